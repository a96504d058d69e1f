/**
 * The baseline of the delay between an order and its webhook message: a node:http server that stores each order as one
 * durable row, responds, and posts the signed order to ENDPOINT. It has no keys, validation, events, retries or log.
 */
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { text } from "node:stream/consumers";
import postgres from "postgres";
import { Pool } from "undici";

const { DATABASE_URL, PORT, ENDPOINT = "" } = process.env;
if (!DATABASE_URL) throw new Error("DATABASE_URL is required.");
const sql = postgres(DATABASE_URL, { max: 10, onnotice: () => {} });
const table = sql(`webhook_baseline_${randomUUID()}`);
await sql`create table ${table} (id uuid primary key, body text compression lz4 not null)`;
const { origin, pathname: path } = new URL(ENDPOINT);
const pool = new Pool(origin, { connections: 50, pipelining: 1 });
const secret = randomBytes(32).toString("hex");

createServer(async (request, response) => {
  response.setHeader("content-type", "application/json");
  if (request.method !== "POST") return response.end("[]");
  const orders = JSON.parse(await text(request)) as { id: string; data: object }[];
  const bodies = orders.map(({ data, id }) => JSON.stringify({ meta: { id: randomUUID() }, data: { id, ...data } }));
  await sql`insert into ${table} ${sql(bodies.map((body) => ({ id: randomUUID(), body })))}`;
  response.end("[]");
  for (const body of bodies) {
    const signature = createHmac("sha256", secret).update(body).digest("hex");
    const headers = { "content-type": "application/json", "x-popina-hmac-signature": signature };
    const posted = await pool.request({ path, method: "POST", headers, body });
    await posted.body.dump();
  }
}).listen(Number(PORT), "127.0.0.1");

process.on("SIGTERM", async () => {
  await sql`drop table ${table}`;
  process.exit(0);
});
