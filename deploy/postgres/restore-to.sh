#!/bin/sh
# Restores the data folder of PostgreSQL as it was at a time, such as `restore-to.sh 2026-04-01T13:30:00Z`, from the
# archive of back-up.sh and archive-wal.sh. The folder PGDATA must be empty. The next start of PostgreSQL replays the WAL.
set -eu
umask 077
archive=${ARCHIVE_FOLDER:-/archive}
wal=${WAL_ARCHIVE_FOLDER:-$archive/wal}
case ${1:-} in
  ????-??-??T??:??:??Z) target=$1 ;;
  *)
    echo 'Specify a time in UTC, such as 2026-04-01T13:30:00Z.' >&2
    exit 2
    ;;
esac
data=${PGDATA:?is not set}
mkdir -p "$data"
if [ -n "$(ls -A "$data")" ]; then
  echo "The folder $data is not empty." >&2
  exit 1
fi
stamp=$(printf %s "$target" | tr -d ':-')
base=
for folder in "$archive"/base/*Z; do
  name=$(basename "$folder")
  [ "$(printf '%s\n%s\n' "$name" "$stamp" | sort | head -n 1)" != "$name" ] || base=$folder
done
if [ -z "$base" ] || [ ! -d "$base" ]; then
  echo "The archive $archive has no base backup that ended before $target." >&2
  exit 1
fi
echo "Restoring $base, and the WAL until $target."
tar -xzf "$base/base.tar.gz" -C "$data"
tar -xzf "$base/pg_wal.tar.gz" -C "$data/pg_wal"
cat >>"$data/postgresql.auto.conf" <<CONFIG
restore_command = 'test -f "$wal/%f.gz" && gunzip -c "$wal/%f.gz" >"%p"'
recovery_target_time = '$(printf %s "$target" | tr 'TZ' ' +')00'
recovery_target_action = 'promote'
CONFIG
touch "$data/recovery.signal"
chmod 700 "$data"
[ "$(id -u)" != 0 ] || chown -R "${PGDATA_OWNER:-postgres}" "$data"
