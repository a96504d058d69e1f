#!/usr/bin/env bash
# DuckDB reads instants of a Parquet file that have only the older annotation as local times, without a time zone.
#
# Versions: @duckdb/node-api 1.5.6-r.1 (DuckDB 1.5.6), hyparquet-writer 0.17.0, Node.js 20.20.2.
# Guess: a column with the converted type TIMESTAMP_MILLIS is read as TIMESTAMP WITH TIME ZONE. The Parquet format
# states that this annotation means an instant in UTC: that it equals the logical type TIMESTAMP with isAdjustedToUTC true.
# Seen: it is read as TIMESTAMP. Only with the logical type, too, it is read as TIMESTAMP WITH TIME ZONE. hyparquet-writer
# writes just the converted type for its basic type TIMESTAMP, so that a join of such a file with the ISO 8601 texts of a
# CSV file finds no row in a session whose time zone is not UTC.
# So: write both annotations.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @duckdb/node-api@1.5.6-r.1 hyparquet-writer@0.17.0
cat >probe.mjs <<'JS'
import { writeFileSync } from "node:fs";
import { DuckDBInstance } from "@duckdb/node-api";
import { parquetWriteBuffer } from "hyparquet-writer";

const paidAt = new Date("2026-05-29T10:17:19.000Z");
const logicalType = { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MILLIS" };
const schemas = {
  "basic type": undefined,
  "converted type": { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  "both types": { type: "INT64", converted_type: "TIMESTAMP_MILLIS", logical_type: logicalType },
};
writeFileSync("payments.csv", `paid_at\n${paidAt.toISOString()}\n`);
const connection = await (await DuckDBInstance.create()).connect();
await connection.run("set timezone = 'Europe/Paris'");
for (const [name, element] of Object.entries(schemas)) {
  const column = { name: "paid_at", data: [paidAt], ...(element ? {} : { type: "TIMESTAMP" }) };
  const schema = element && [
    { name: "root", num_children: 1 },
    { name: "paid_at", repetition_type: "REQUIRED", ...element },
  ];
  writeFileSync("payments.parquet", new Uint8Array(parquetWriteBuffer({ columnData: [column], schema })));
  const rows = await connection.runAndReadAll(`
    select typeof(p.paid_at), (select count(*) from read_csv('payments.csv', types = { paid_at: timestamptz }) c
      where c.paid_at = p.paid_at) from 'payments.parquet' p`);
  const [[type, matches]] = rows.getRows();
  console.log(`${name}: ${type}, ${matches} of 1 rows of the CSV file match`);
}
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
basic type: TIMESTAMP, 0 of 1 rows of the CSV file match
converted type: TIMESTAMP, 0 of 1 rows of the CSV file match
both types: TIMESTAMP WITH TIME ZONE, 1 of 1 rows of the CSV file match
SEEN
echo "as recorded"
