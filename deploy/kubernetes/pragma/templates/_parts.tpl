{{/*
The gateway and the services: what does not differ between installations.
  port             of its HTTP server
  secrets          the keys of its secret `pragma-<name>`, beside the keys with which internal requests are signed
  optionalSecrets  keys that the secret may lack
  objects          whether it uses the object store
  internetPorts    ports of public hosts to which it connects; an empty list means all ports
  backlogs         the queries of KEDA by the name of their target in the values
Events "in hand" were delivered: they are processed, or wait for a retry. They are counted, because a pod takes many events
at a time, so that "waiting" can be 0 while all pods are busy.
*/}}
{{- define "pragma.parts" -}}
gateway:
  port: 4000
  secrets: [NATS_URL, REDIS_URL]
accounts:
  port: 4005
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
  optionalSecrets: [PRAGMA_ADMIN_KEY]
till-ingest:
  port: 4001
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
  optionalSecrets: [LEGACY_POPINA_TOKEN, LEGACY_JALIA_TOKEN]
  objects: true
  # Legacy backoffices.
  internetPorts: [443]
order-live:
  port: 4002
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
reporting:
  port: 4003
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
  optionalSecrets: [DATABASE_READ_URL]
  objects: true
  backlogs:
    events: sum(max by (event, state) (event_consumer_lag{service="reporting",state=~"waiting|in hand"}))
    exports: max(accounting_exports_unfinished)
catalog:
  port: 4004
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
webhooks:
  port: 4006
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
  # Webhook endpoints.
  internetPorts: []
  backlogs:
    events: sum(max by (event, state) (event_consumer_lag{service="webhooks",state=~"waiting|in hand"}))
jobs:
  port: 4007
  secrets: [DATABASE_URL, NATS_URL, REDIS_URL, DATA_KEYS]
  backlogs:
    jobs: max(jobs_unfinished)
sandboxes:
  port: 4008
  # Of the inboxes, while sandboxes are on.
  inboxPort: 4010
  secrets: [DATABASE_URL, NATS_URL, DATA_KEYS]
  optionalSecrets: [SANDBOX_OPERATOR_KEY, PRAGMA_ADMIN_KEY]
{{- end }}

{{/* The environment variables of a part with which sandboxes are on, as a map. */}}
{{- define "pragma.sandboxVariables" -}}
{{- if .root.Values.sandboxes.enabled }}
{{- $parts := include "pragma.parts" .root | fromYaml }}
{{- $inboxUrl := printf "http://sandboxes:%v" $parts.sandboxes.inboxPort }}
{{- if eq .name "sandboxes" }}
SANDBOXES: "on"
SANDBOX_REMOVAL: command
SANDBOX_API_URL: http://gateway:{{ $parts.gateway.port }}
SANDBOX_INBOX_HOST: 0.0.0.0
SANDBOX_INBOX_URL: {{ $inboxUrl }}
{{- else if eq .name "webhooks" }}
# The only endpoint that may be private and without https.
SANDBOX_INBOX_URL: {{ $inboxUrl }}
{{- else if eq .name "console" }}
SANDBOXES: "on"
{{- end }}
{{- end }}
{{- end }}

{{/* The sites for browsers, from the same image: the port and the program of each, and the value with its host. */}}
{{- define "pragma.sites" -}}
portal: { port: 3000, command: [node, docs-portal/serve.mjs], host: docsHost }
console: { port: 3002, command: [node, console/serve.mjs], host: consoleHost }
{{- end }}

{{/* The environment variables of a site, in addition to the settings, as a map. */}}
{{- define "pragma.siteVariables" -}}
{{- if and (eq .name "portal") .root.Values.access.consoleHost }}
CONSOLE_URL: https://{{ .root.Values.access.consoleHost }}
{{- end }}
{{- include "pragma.sandboxVariables" . }}
{{- end }}

{{/* The names of the services, without the gateway, as a list. */}}
{{- define "pragma.services" -}}
{{ omit (include "pragma.parts" . | fromYaml) "gateway" | keys | sortAlpha | toYaml }}
{{- end }}

{{/* The name of a service in environment variables, such as TILL_INGEST. */}}
{{- define "pragma.variable" -}}
{{ . | upper | replace "-" "_" }}
{{- end }}

{{/* The names of the keys with which a part signs its requests, and verifies those of others, as a list. */}}
{{- define "pragma.internalKeys" -}}
{{- $name := .name }}
{{- $services := include "pragma.services" .root | fromYamlArray }}
{{- $own := include "pragma.variable" $name }}
{{- if eq $name "gateway" }}
{{- range $services }}
- GATEWAY_TO_{{ include "pragma.variable" . }}_KEYS
{{- end }}
{{- else }}
- GATEWAY_TO_{{ $own }}_KEYS
{{- if eq $name "accounts" }}
{{- range without $services "accounts" }}
- {{ include "pragma.variable" . }}_TO_ACCOUNTS_KEYS
{{- end }}
{{- else }}
- {{ $own }}_TO_ACCOUNTS_KEYS
{{- end }}
{{- end }}
{{- end }}

{{/* Environment variables with the values of keys of a secret. */}}
{{- define "pragma.secretVariables" -}}
{{- $secret := .secret }}
{{- $optional := .optional }}
{{- range .keys }}
- name: {{ . }}
  valueFrom: { secretKeyRef: { name: {{ $secret }}, key: {{ . }}{{ if $optional }}, optional: true{{ end }} } }
{{- end }}
{{- end }}

{{/* The URLs of services' databases, and those of the owner for services with a database of their own. */}}
{{- define "pragma.databaseVariables" -}}
{{- $secret := .secret }}
{{- $suffixes := .suffixes }}
{{- $services := include "pragma.services" .root | fromYamlArray }}
{{- include "pragma.secretVariables" (dict "secret" $secret "keys" (list "DATABASE_URL")) }}
{{- range $suffix := $suffixes }}
{{- range $services }}
{{- include "pragma.secretVariables" (dict "secret" $secret "keys" (list (printf "%s_%s" (include "pragma.variable" .) $suffix)) "optional" true) }}
{{- end }}
{{- end }}
{{- end }}

{{/* The credentials of the object store, which are not needed if pods have an IAM role. */}}
{{- define "pragma.objectVariables" -}}
{{ include "pragma.secretVariables" (dict "secret" "pragma-objects" "keys" (list "AWS_ACCESS_KEY_ID" "AWS_SECRET_ACCESS_KEY") "optional" true) }}
{{- end }}

{{/* Environment variables with fixed values, from a map. */}}
{{- define "pragma.plainVariables" -}}
{{- range $name, $value := . }}
- { name: {{ $name }}, value: {{ include "pragma.text" $value | quote }} }
{{- end }}
{{- end }}

{{/* A value as text. Numbers of values files are floating-point numbers, which would be written as 1.6e+10. */}}
{{- define "pragma.text" -}}
{{- if kindIs "float64" . }}{{ if eq (floor .) . }}{{ . | int64 }}{{ else }}{{ . }}{{ end }}{{ else }}{{ . }}{{ end }}
{{- end }}

{{/* The settings of all processes, as a map. */}}
{{- define "pragma.settings" -}}
NODE_ENV: production
# Services do not migrate at startup, because the migrate job creates tables, roles and the event streams.
MIGRATE: "off"
EVENT_STREAM_REPLICAS: {{ .Values.eventStreams.replicas }}
TILL_EVENT_STREAM_MAX_BYTES: {{ .Values.eventStreams.tillEventsMaxBytes | int64 }}
ORDER_EVENT_STREAM_MAX_BYTES: {{ .Values.eventStreams.orderEventsMaxBytes | int64 }}
DATABASE_POOL: {{ .Values.databasePool }}
# For probes and Prometheus, which send addresses of pods as Host. The network policies let no other pod reach the port.
OPS_HOST: 0.0.0.0
# For this time after SIGTERM, a pod reports that it is not ready but still serves requests, so that other pods have time to
# stop sending requests to it.
SHUTDOWN_DELAY_SECONDS: 10
{{- with .Values.access.apiHost }}
PUBLIC_URL: https://{{ . }}
{{- end }}
{{- with .Values.access.docsHost }}
DOCS_URL: https://{{ . }}/docs
{{- end }}
{{- end }}

{{- define "pragma.allSettings" -}}
{{- $settings := include "pragma.settings" . | fromYaml }}
{{- range $name, $value := mergeOverwrite $settings .Values.settings }}
{{ $name }}: {{ include "pragma.text" $value | quote }}
{{- end }}
{{- end }}

{{- define "pragma.image" -}}
{{ .image }}:{{ .root.Values.images.tag | default .root.Chart.AppVersion }}
{{- end }}

{{- define "pragma.labels" -}}
app.kubernetes.io/name: {{ . }}
app.kubernetes.io/part-of: pragma
{{- end }}

{{/* Labels of objects, in addition to those that pods have. */}}
{{- define "pragma.metadata" -}}
name: {{ .name }}
namespace: {{ .root.Release.Namespace }}
labels:
  {{- include "pragma.labels" .name | nindent 2 }}
  app.kubernetes.io/managed-by: {{ .root.Release.Service }}
  app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
{{- end }}

{{/* The settings of all pods. */}}
{{- define "pragma.podSettings" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.podSettings }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "pragma.containerSecurity" -}}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
{{- end }}

{{/* CA and client certificates for PostgreSQL, NATS and Redis (TLS_CA_FILE=/tls/ca.crt, ...). */}}
{{- define "pragma.tlsVolume" -}}
- name: tls
  secret: { secretName: pragma-tls, optional: true }
{{- end }}

{{/* Pods are spread over nodes and zones. */}}
{{- define "pragma.spread" -}}
{{- range list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
- maxSkew: 1
  topologyKey: {{ . }}
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels: { app.kubernetes.io/part-of: pragma }
  matchLabelKeys: [app.kubernetes.io/name]
{{- end }}
{{- end }}

{{/* A quantity, such as 24G or 25Gi, in bytes. */}}
{{- define "pragma.bytes" -}}
{{- $units := dict "" 1.0 "M" 1e6 "G" 1e9 "T" 1e12 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 }}
{{- $unit := regexFind "[A-Za-z]*$" . }}
{{- if not (hasKey $units $unit) }}{{ fail (printf "%s has an unknown unit: use M, G, T, Mi, Gi or Ti." .) }}{{ end }}
{{- mulf (trimSuffix $unit . | float64) (get $units $unit) | int64 }}
{{- end }}

{{/*
The sessions of PostgreSQL that the pods of each service use at the limit of its autoscaler, as a map. A rolling update adds
one pod. Each pod uses one session more than its pool, and reporting a further one for a bulk export.
*/}}
{{- define "pragma.databaseSessions" -}}
{{- range $name := include "pragma.services" . | fromYamlArray }}
{{- $values := index $.Values.services $name }}
{{- $pool := (mergeOverwrite (dict "DATABASE_POOL" $.Values.databasePool) $.Values.settings $values.env).DATABASE_POOL | int }}
{{ $name }}: {{ mul (add1 $values.replicas.max) (add1 $pool | add (ternary 1 0 (eq $name "reporting"))) }}
{{- end }}
{{- end }}

{{/*
The limits of PostgreSQL: a tenth more than the services use, because PgBouncer keeps unused sessions for some seconds, and
40 for the migrate job, backups, operators' commands and the operator of PostgreSQL.
*/}}
{{- define "pragma.postgresLimits" -}}
{{- $sum := 0 }}
{{- range include "pragma.databaseSessions" . | fromYaml }}{{ $sum = add $sum . }}{{ end }}
max_connections: {{ add $sum (div $sum 10) 40 }}
{{- end }}

{{/* The limits of a pod of PgBouncer, which accepts the connections of all pods while it is the only one. */}}
{{- define "pragma.poolerLimits" -}}
{{- $sum := 0 }}
{{- $max := 0 }}
{{- range include "pragma.databaseSessions" . | fromYaml }}{{ $sum = add $sum . }}{{ $max = max $max . }}{{ end }}
max_client_conn: {{ add $sum 40 }}
max_db_connections: {{ $sum }}
default_pool_size: {{ $max }}
{{- end }}
