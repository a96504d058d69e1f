#!/bin/sh
# Takes a base backup of PostgreSQL every day and copies new objects every five minutes, or only once with the argument
# `once`. Together with the WAL of archive-wal.sh, restore-to.sh can restore any minute since the oldest base backup.
# Connects with the variables of libpq (PGHOST, PGUSER, ...).
#
# In ARCHIVE_FOLDER: wal/ by PostgreSQL, base/<UTC time of the end>/, objects/, and metrics/backup.prom.
set -eu
umask 077
# The order of `sort` must not depend on the language.
export LC_ALL=C
archive=${ARCHIVE_FOLDER:-/archive}
objects=${OBJECTS_FOLDER:-/data/objects}
kept_days=${BACKUPS_KEPT_DAYS:-7}

# Records the time of a complete backup for node_exporter, which other users than root run.
record_completion() {
  mkdir -p "$archive/metrics"
  chmod 711 "$archive"
  chmod 755 "$archive/metrics"
  printf 'backup_completed_timestamp_seconds{backup="%s"} %s\n' "$1" "$(date +%s)" >"$archive/metrics/$1"
  cat "$archive"/metrics/postgres "$archive"/metrics/objects >"$archive/metrics/new" 2>/dev/null || true
  chmod 644 "$archive/metrics/new"
  mv "$archive/metrics/new" "$archive/metrics/backup.prom"
}

back_up_postgres() {
  rm -rf "$archive/base/incomplete"
  mkdir -p "$archive/base"
  echo "Taking a base backup."
  pg_basebackup --pgdata="$archive/base/incomplete" --format=tar --gzip --checkpoint=fast --wal-method=stream || return
  list_objects >"$archive/base/incomplete/objects.list" || return
  sync
  name=$(date -u +%Y%m%dT%H%M%SZ)
  mv "$archive/base/incomplete" "$archive/base/$name" || return
  remove_old_backups || return
  record_completion postgres
  echo "The base backup $archive/base/$name is complete."
}

# Prints the objects to back up, with the options of `find`. The files of bulk exports are not among them, because clients
# can create them again.
find_objects() {
  find . -type f ! -path './~incoming/*' ! -path './exports/*' "$@"
}

list_objects() {
  [ ! -d "$objects" ] || (cd "$objects" && find_objects | sort)
}

# Removes base backups that are too old, but never the last one, and what only these needed: WAL and deleted objects.
remove_old_backups() {
  last=$(cd "$archive/base" && ls -d ????????T??????Z | tail -n 1)
  find "$archive/base" -mindepth 1 -maxdepth 1 -name '*Z' ! -name "$last" -mtime +"$((kept_days - 1))" -exec rm -rf {} +
  # The oldest WAL that the oldest base backup needs is in its label.
  oldest=$(cd "$archive/base" && ls -d ????????T??????Z | head -n 1)
  wal=$(tar -xzOf "$archive/base/$oldest/base.tar.gz" backup_label | sed -n 's/^START WAL LOCATION: .*(file \([0-9A-F]*\))$/\1/p')
  pg_archivecleanup -x .gz "$archive/wal" "$wal"
  [ -d "$archive/objects" ] || return 0
  lists=$(mktemp -d)
  list_objects >"$lists/current"
  # No objects at all probably means that their volume is not mounted.
  if [ -s "$lists/current" ]; then
    sort -u "$lists/current" "$archive"/base/*Z/objects.list >"$lists/kept"
    (cd "$archive/objects" && find . -type f | sort) >"$lists/copied"
    # Of three lists, only what is in the last one alone occurs once.
    sort "$lists/kept" "$lists/kept" "$lists/copied" | uniq -u >"$lists/removed"
    (cd "$archive/objects" && tr '\n' '\0' <"$lists/removed" | xargs -0 -r rm -f)
  fi
  rm -r "$lists"
}

# Copies the objects that are newer than the last copy. An object never changes after it was stored.
#
# The time of a file is that of its last write, and it gets its name only afterwards. An upload can therefore end after a
# copy has begun, and have an earlier time. No upload takes an hour, so the next copy goes back an hour.
copy_objects() {
  [ -d "$objects" ] || return 0
  mkdir -p "$archive/objects"
  touch -d "@$(($(date +%s) - 3600))" "$archive/objects-started"
  since=
  [ ! -e "$archive/objects-copied" ] || since="-newer $archive/objects-copied"
  # shellcheck disable=SC2086
  (cd "$objects" && find_objects $since) | while IFS= read -r file; do
    [ ! -e "$archive/objects/$file" ] || continue
    mkdir -p "$archive/objects/$(dirname "$file")"
    # An object that is deleted during the copy is not an error.
    cp -p "$objects/$file" "$archive/objects/$file.partial" || { [ ! -e "$objects/$file" ] && continue || exit 1; }
    mv "$archive/objects/$file.partial" "$archive/objects/$file"
  done || return
  sync
  mv "$archive/objects-started" "$archive/objects-copied"
  record_completion objects
}

if [ "${1:-}" = once ]; then
  back_up_postgres
  copy_objects
  exit
fi
trap 'exit 0' TERM INT
while :; do
  newest=$(find "$archive/base" -mindepth 1 -maxdepth 1 -name '*Z' -mmin -1435 2>/dev/null | head -n 1)
  [ -n "$newest" ] || back_up_postgres || echo 'The base backup failed, and is tried again in five minutes.' >&2
  copy_objects || echo 'Copying objects failed, and is tried again in five minutes.' >&2
  sleep 300 &
  wait $!
done
