/**
 * Whoever gets webhooks: answers each message at once, those to /slow after three seconds, and those to /silent never.
 * GET /arrivals tells what has come since it was last asked, GET /body one message as it came.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type Arrival, epochMilliseconds } from "../arrival.ts";

const mark = '"data":{"id":"';
const idLength = 36;
const slowness = 3_000;

let arrivals: Arrival[] = [];
let last = Buffer.alloc(0);

createServer(async (request, response) => {
  const at = epochMilliseconds();
  const path = request.url ?? "";
  if (request.method === "POST") return receive(request, response, { path, at });
  if (path === "/arrivals") {
    response.end(JSON.stringify(arrivals));
    arrivals = [];
  } else response.end(last.length > 0 ? last : "{}");
}).listen(Number(process.env.PORT), "127.0.0.1");

async function receive(request: IncomingMessage, response: ServerResponse, { path, at }: Omit<Arrival, "orderId">) {
  const body = await buffer(request).catch(() => undefined);
  if (!body) return;
  const place = body.indexOf(mark);
  if (place !== -1) {
    last = body;
    const from = place + mark.length;
    arrivals.push({ path, at, orderId: body.toString("latin1", from, from + idLength) });
  }
  if (path.startsWith("/silent")) return;
  if (path.startsWith("/slow")) setTimeout(() => response.writeHead(204).end(), slowness);
  else response.writeHead(204).end();
}
