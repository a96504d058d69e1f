{{/* Selects pods of one of these parts, in all namespaces of the installation. */}}
{{- define "pragma.peers" -}}
- namespaceSelector: {{ include "pragma.namespaceSelector" .root }}
  podSelector: {{ include "pragma.partSelector" .names }}
{{- end }}

{{- define "pragma.partSelector" -}}
{ matchExpressions: [{ key: app.kubernetes.io/name, operator: In, values: [{{ join ", " . }}] }] }
{{- end }}

{{- define "pragma.namespaceSelector" -}}
{ matchExpressions: [{ key: kubernetes.io/metadata.name, operator: In, values: [{{ include "pragma.namespaces" . }}] }] }
{{- end }}

{{/* The namespaces of the installation, separated by commas. */}}
{{- define "pragma.namespaces" -}}
{{ append .Values.network.namespaces .Release.Namespace | uniq | sortAlpha | join ", " }}
{{- end }}

{{/* All pods of another namespace, such as that of Prometheus. */}}
{{- define "pragma.namespacePeer" -}}
- namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ . }} } }
{{- end }}

{{/* Ranges of addresses, such as 10.20.0.0/24. */}}
{{- define "pragma.addressPeers" -}}
{{- range . }}
- ipBlock: { cidr: {{ . }} }
{{- end }}
{{- end }}

{{/* Public hosts, but no private networks. */}}
{{- define "pragma.publicPeer" -}}
- ipBlock:
    cidr: 0.0.0.0/0
    except: [10.0.0.0/8, 100.64.0.0/10, 127.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16]
{{- end }}

{{- define "pragma.policyMetadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels: { app.kubernetes.io/part-of: pragma, app.kubernetes.io/managed-by: {{ .root.Release.Service }} }
{{- end }}

{{/* The parts that connect to each server, separated by spaces. */}}
{{- define "pragma.postgresClients" -}}
{{ include "pragma.services" . | fromYamlArray | join " " }} migrate backup ops
{{- end }}

{{- define "pragma.natsClients" -}}
gateway {{ include "pragma.services" . | fromYamlArray | join " " }} migrate ops
{{- end }}

{{- define "pragma.redisClients" -}}
gateway jobs
{{- end }}

{{- define "pragma.objectClients" -}}
{{- $names := list "backup" "ops" }}
{{- range $name, $part := include "pragma.parts" . | fromYaml }}
{{- if $part.objects }}{{ $names = append $names $name }}{{ end }}
{{- end }}
{{- join " " $names }}
{{- end }}
