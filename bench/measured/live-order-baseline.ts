/**
 * The baseline of live orders: a node:http server that stores each body as one durable row and writes the body to all
 * readers of the stream. It has no API keys, no validation, no log of changes, and no fixed sequence of changes.
 */
import { randomUUID } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { text } from "node:stream/consumers";
import postgres from "postgres";

const { DATABASE_URL, PORT } = process.env;
if (!DATABASE_URL) throw new Error("DATABASE_URL is required.");
const sql = postgres(DATABASE_URL, { max: 10, onnotice: () => {} });
const table = sql(`live_order_baseline_${randomUUID()}`);
await sql`create table ${table} (id uuid primary key, body text compression lz4 not null)`;

const readers = new Set<ServerResponse>();

createServer(async (request, response) => {
  if (request.url === "/stream") {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write("event: ready\ndata: {}\n\n");
    readers.add(response);
    response.on("close", () => readers.delete(response));
    return;
  }
  if (request.method === "POST") {
    const body = await text(request);
    await sql`insert into ${table} values (${randomUUID()}, ${body})`;
    const event = Buffer.from(`event: order\ndata: ${body}\n\n`);
    for (const reader of readers) reader.write(event);
  }
  response.writeHead(200, { "content-type": "application/json" });
  response.end("[]");
}).listen(Number(PORT), "127.0.0.1");

process.on("SIGTERM", async () => {
  await sql`drop table ${table}`;
  process.exit(0);
});
