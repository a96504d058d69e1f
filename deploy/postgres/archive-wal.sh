#!/bin/sh
# The archive_command of PostgreSQL: compresses a WAL file into the archive. Succeeds only when the copy is on disk, and
# never replaces another file. PostgreSQL tries again after a failure, and may archive a file twice after a crash.
set -eu
source=$1
target=$2
if [ -e "$target" ]; then
  gunzip -c "$target" | cmp -s - "$source"
  exit
fi
gzip -c "$source" >"$target.partial"
sync "$target.partial"
mv "$target.partial" "$target"
sync "$(dirname "$target")"
