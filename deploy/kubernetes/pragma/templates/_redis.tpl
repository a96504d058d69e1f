{{/* The container that exports the metrics of Redis for Prometheus. */}}
{{- define "pragma.redisExporter" -}}
name: exporter
image: {{ .root.Values.redis.exporterImage }}
env:
  {{- include "pragma.plainVariables" (merge (dict "REDIS_USER" "monitor" "REDIS_EXPORTER_CONFIG_COMMAND" "-") .variables) | nindent 2 }}
  - name: REDIS_PASSWORD
    valueFrom: { secretKeyRef: { name: pragma-redis, key: REDIS_PASSWORD_MONITOR } }
ports:
  - { name: metrics, containerPort: 9121 }
securityContext:
  {{- include "pragma.containerSecurity" .root | nindent 2 }}
resources:
  requests: { cpu: 10m, memory: 32Mi }
  limits: { memory: 64Mi }
{{- end }}
