/**
 * Whoever gets webhooks: answers each message at once, those to /slow after three seconds, and those to /silent never.
 * GET /arrivals tells what has come since it was last asked, GET /body one message as it came.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { preciseEpochMs, type WebhookArrival } from "../webhook-arrival.ts";

const orderIdPrefix = '"data":{"id":"';
const idLength = 36;
const slowResponseMs = 3_000;

let arrivals: WebhookArrival[] = [];
let lastBody = Buffer.alloc(0);

createServer(async (request, response) => {
  const at = preciseEpochMs();
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
  { path, at }: Omit<WebhookArrival, "orderId">,
) {
  const body = await buffer(request).catch(() => undefined);
  if (!body) return;
  const place = body.indexOf(orderIdPrefix);
  if (place !== -1) {
    lastBody = body;
    const from = place + orderIdPrefix.length;
    arrivals.push({ path, at, orderId: body.toString("latin1", from, from + idLength) });
  }
  if (path.startsWith("/silent")) return;
  if (path.startsWith("/slow")) setTimeout(() => response.writeHead(204).end(), slowResponseMs);
  else response.writeHead(204).end();
}
