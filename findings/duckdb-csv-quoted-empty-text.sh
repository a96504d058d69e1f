#!/usr/bin/env bash
# DuckDB reads a quoted empty text of a CSV file as null, unless it is told otherwise.
#
# Version: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6).
# Guess: like PostgreSQL's COPY, `""` is an empty text, and only an empty cell without quotes is null.
# Seen: both are null. With `allow_quoted_nulls = false`, `""` is an empty text and the cell without quotes is null.
# So: pass `allow_quoted_nulls = false` to read_csv, or exchange Parquet files.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1
printf 'id,note\r\n1,""\r\n2,\r\n3,x\r\n' >notes.csv
cat >probe.mjs <<'JS'
import { DuckDBInstance } from "@duckdb/node-api";

const connection = await (await DuckDBInstance.create()).connect();
for (const options of ["", ", allow_quoted_nulls = false"]) {
  const rows = await connection.runAndReadAll(`select note from read_csv('notes.csv'${options}) order by id`);
  console.log(options || "default", JSON.stringify(rows.getRows().flat()));
}
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
default [null,null,"x"]
, allow_quoted_nulls = false ["",null,"x"]
SEEN
echo "as recorded"
