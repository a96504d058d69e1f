#!/bin/sh
# Starts Redis with the users of users.acl, each with its password from the environment, and with its data in an
# append-only file. REDIS_MAXMEMORY is what its data may take: writes past it are refused, and nothing is evicted. Half of the
# container's memory, because rewriting the file can take as much again.
set -eu
users=/tmp/users.acl
while IFS= read -r line; do
  case $line in
    *'>$'*)
      before=${line%%'>$'*}
      rest=${line#*'>$'}
      variable=${rest%% *}
      eval "password=\${$variable:?is not set}"
      printf '%s>%s %s\n' "$before" "$password" "${rest#* }"
      ;;
    *) printf '%s\n' "$line" ;;
  esac
done </etc/pragma/users.acl >"$users"
# As the image starts it: as a user who may do nothing else.
exec docker-entrypoint.sh redis-server --dir /data --appendonly yes --appendfsync everysec --save '' --bind '*' '-::*' --protected-mode no \
  --maxmemory "${REDIS_MAXMEMORY:-256mb}" --maxmemory-policy noeviction --aclfile "$users"
