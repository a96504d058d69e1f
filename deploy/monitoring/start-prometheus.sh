#!/bin/sh
# Starts Prometheus. Writes the public URLs with https to a file, because its configuration cannot contain variables.
set -eu
targets=
for url in "${PUBLIC_URL:-}" "${DOCS_URL:-}"; do
  case $url in
    https://*) targets="${targets:+$targets,}\"$url\"" ;;
  esac
done
echo "[{\"targets\":[$targets]}]" >"${PUBLIC_URLS_FILE:-/tmp/public-urls.json}"
exec prometheus --config.file=/etc/pragma/monitoring/prometheus.yml --storage.tsdb.path=/prometheus \
  --storage.tsdb.retention.time="${RETENTION_TIME:-30d}" --storage.tsdb.retention.size="${RETENTION_SIZE:-10GB}" "$@"
