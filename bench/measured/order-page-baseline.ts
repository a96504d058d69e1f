/**
 * The baseline of a page of orders: a node:http server that only queries orders and sends the stored JSON unchanged.
 * It has no API keys, no total count, no links and no log.
 */
import { createServer } from "node:http";
import postgres from "postgres";

const { DATABASE_URL, SCHEMA, LOCATION_ID, PORT } = process.env;
if (!DATABASE_URL || !SCHEMA || !LOCATION_ID) throw new Error("DATABASE_URL, SCHEMA and LOCATION_ID are required.");
const sql = postgres(DATABASE_URL, { max: 10, connection: { search_path: SCHEMA } });

createServer(async (_request, response) => {
  const rows = await sql<{ v1: string }[]>`
    select v1 from orders where location_id = ${LOCATION_ID} and is_current
    order by day desc, opened_at desc, id desc limit 100`;
  const body = `{"data":[${rows.map(({ v1 }) => v1).join(",")}]}`;
  response.writeHead(200, { "content-type": "application/json", "content-length": Buffer.byteLength(body) });
  response.end(body);
}).listen(Number(PORT), "127.0.0.1");
