#!/bin/sh
# Starts Redis with the users in users.acl, whose passwords come from the environment, and with an append-only file.
# REDIS_MAXMEMORY limits the memory for data: when it is full, writes fail and nothing is evicted. Set it to half of the
# container's memory, because rewriting the append-only file can need the same amount of memory again.
set -eu
users=/tmp/users.acl
while IFS= read -r line; do
  case $line in
    *'>$'*)
      prefix=${line%%'>$'*}
      rest=${line#*'>$'}
      variable=${rest%% *}
      # The user of redis_exporter is created only if it has a password.
      [ "$variable" != REDIS_PASSWORD_MONITOR ] || [ -n "${REDIS_PASSWORD_MONITOR:-}" ] || continue
      eval "password=\${$variable:?is not set}"
      printf '%s>%s %s\n' "$prefix" "$password" "${rest#* }"
      ;;
    *) printf '%s\n' "$line" ;;
  esac
done </etc/pragma/users.acl >"$users"
# The entrypoint of the image switches to an unprivileged user.
exec docker-entrypoint.sh redis-server --dir /data --appendonly yes --appendfsync everysec --save '' --bind '*' '-::*' --protected-mode no \
  --maxmemory "${REDIS_MAXMEMORY:-256mb}" --maxmemory-policy noeviction --aclfile "$users"
