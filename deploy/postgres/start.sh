#!/bin/sh
# Starts PostgreSQL with memory settings for the memory limit of its container. Further arguments are passed on, such as
# `-c work_mem=16MB`, and win over these settings.
set -eu
bytes=$(cat "${MEMORY_LIMIT_FILE:-/sys/fs/cgroup/memory.max}" 2>/dev/null || echo max)
case $bytes in
  '' | *[!0-9]*) memory=1024 ;; # No limit, or an older kernel: as if the limit was 1 GB.
  *) memory=$((bytes / 1048576)) ;;
esac
# A quarter for pages that are read often. The kernel caches files in the rest, which counts towards the limit, but
# which it gives back to processes when they need it.
shared_buffers=$((memory / 4))
effective_cache_size=$((memory * 3 / 4))
# For each sort or hash of a statement. The services sort pages of a hundred rows, so that little is enough, and 300
# connections cannot use up the memory.
work_mem=$((memory / 256))
[ "$work_mem" -ge 4 ] || work_mem=4
# For each of the three autovacuum processes, and for each index that a migration creates.
maintenance_work_mem=$((memory / 16))
[ "$maintenance_work_mem" -le 1024 ] || maintenance_work_mem=1024
# The log on the disk between two checkpoints, twice the memory, because a checkpoint writes each changed page in full
# once. Compression makes these pages smaller.
max_wal_size=$((memory * 2))
[ "$max_wal_size" -le 16384 ] || max_wal_size=16384
# With WAL_ARCHIVE=on, the WAL of the last minute is always in the archive, from which any minute can be restored.
if [ "${WAL_ARCHIVE:-off}" = on ]; then
  archive=${WAL_ARCHIVE_FOLDER:-/archive/wal}
  mkdir -p "$archive"
  [ "$(id -u)" != 0 ] || chown postgres:postgres "$archive"
  chmod 700 "$archive"
  set -- -c archive_mode=on -c archive_timeout=60 -c "archive_command=sh '$(dirname "$0")/archive-wal.sh' '%p' '$archive/%f.gz'" "$@"
fi
# The entrypoint of the image switches to an unprivileged user.
exec docker-entrypoint.sh postgres \
  -c max_connections=300 \
  -c default_toast_compression=lz4 \
  -c shared_buffers="${shared_buffers}MB" \
  -c effective_cache_size="${effective_cache_size}MB" \
  -c work_mem="${work_mem}MB" \
  -c maintenance_work_mem="${maintenance_work_mem}MB" \
  -c max_wal_size="${max_wal_size}MB" \
  -c checkpoint_timeout=15min \
  -c wal_compression=lz4 \
  -c random_page_cost=1.1 \
  "$@"
