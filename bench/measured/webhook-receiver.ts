/**
 * A webhook receiver. It responds immediately, except on /slow (after three seconds) and on /silent (never). GET
 * /arrivals returns the arrivals since the previous GET /arrivals. GET /body returns the body of the last message.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { type BenchWebhookArrival, getPreciseEpochMs } from "../webhook-arrival.ts";

const orderIdPrefix = '"data":{"id":"';
const idLength = 36;
const slowResponseMs = 3_000;

let arrivals: BenchWebhookArrival[] = [];
let lastBody = Buffer.alloc(0);

createServer(async (request, response) => {
  const at = getPreciseEpochMs();
  const path = request.url ?? "";
  if (request.method === "POST") return receiveMessage(request, response, { path, at });
  if (path === "/arrivals") {
    response.end(JSON.stringify(arrivals));
    arrivals = [];
  } else response.end(lastBody.length > 0 ? lastBody : "{}");
}).listen(Number(process.env.PORT), "127.0.0.1");

async function receiveMessage(
  request: IncomingMessage,
  response: ServerResponse,
  { path, at }: Omit<BenchWebhookArrival, "orderId">,
) {
  const body = await buffer(request).catch(() => undefined);
  if (!body) return;
  const prefixIndex = body.indexOf(orderIdPrefix);
  if (prefixIndex !== -1) {
    lastBody = body;
    const from = prefixIndex + orderIdPrefix.length;
    arrivals.push({ path, at, orderId: body.toString("latin1", from, from + idLength) });
  }
  if (path.startsWith("/silent")) return;
  if (path.startsWith("/slow")) setTimeout(() => response.writeHead(204).end(), slowResponseMs);
  else response.writeHead(204).end();
}
