#!/usr/bin/env bash
# postgres.js reads the array type of every table and of every partition, for each new connection.
#
# Versions: postgres 3.4.9, @electric-sql/pglite 0.5.14 with pglite-socket 0.2.17, Node.js 20.20.2.
# Guess: a new connection reads the few array types that columns have, so its cost does not depend on the tables.
# Seen: PostgreSQL makes an array type for the rows of each table, and postgres.js asks for all of them. A table with 32
# partitions adds 33 rows to the first response of each connection. With 1,000 tables and partitions, a connection took
# 8 ms of PostgreSQL and 3 ms of the client, and a service opens dozens of them when it starts or loses its server.
# So: set `fetch_types: false` where no arrays are read, or count connections and partitions before you multiply both.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund postgres@3.4.9 @electric-sql/pglite@0.5.14 @electric-sql/pglite-socket@0.2.17
cat >count.mjs <<'JS'
import net from "node:net";
import { PGlite } from "@electric-sql/pglite";
import { PGLiteSocketServer } from "@electric-sql/pglite-socket";
import postgres from "postgres";

const listen = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () => done(server.address().port)));
const placeholder = net.createServer();
const port = await listen(placeholder);
await new Promise((resolve) => placeholder.close(resolve));
const db = await PGlite.create();
const server = new PGLiteSocketServer({ db, port, host: "127.0.0.1" });
await server.start();

/** The rows that the server sends to a new connection that runs one statement with one row. */
async function countRows() {
  const chunks = [];
  const proxy = net.createServer((client) => {
    const upstream = net.connect(port, "127.0.0.1");
    client.pipe(upstream).on("error", () => {});
    upstream.on("data", (chunk) => chunks.push(chunk)).pipe(client).on("error", () => {});
  });
  const options = { host: "127.0.0.1", port: await listen(proxy), user: "postgres", database: "postgres" };
  const sql = postgres({ ...options, max: 1, ssl: false });
  await sql`select 1`;
  await sql.end();
  proxy.close();
  const bytes = Buffer.concat(chunks);
  let rows = 0;
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) if (bytes[at] === 68) rows += 1;
  return rows;
}

const rowsWithoutTables = await countRows();
await db.exec("create table orders (location int, id int) partition by hash (location)");
for (let part = 0; part < 32; part += 1)
  await db.exec(`create table orders_${part} partition of orders for values with (modulus 32, remainder ${part})`);
console.log("a table with 32 partitions adds", (await countRows()) - rowsWithoutTables, "rows to each new connection");
await server.stop();
await db.close();
process.exit(0);
JS
node count.mjs | tee seen
diff seen - <<'SEEN'
a table with 32 partitions adds 33 rows to each new connection
SEEN
echo "as recorded"
