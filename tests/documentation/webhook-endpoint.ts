import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedWebhookMessage {
  headers: IncomingHttpHeaders;
  body: string;
}

/**
 * Starts a webhook endpoint, which accepts messages at `url` and responds with 503 at `failingUrl`. Tests must find
 * messages by their text, because the endpoint can also receive messages about events that occurred just before the
 * subscription.
 */
export async function startExampleWebhookEndpoint() {
  const messages: ReceivedWebhookMessage[] = [];
  let failingText: string | undefined;
  const server = createServer(async (request, response) => {
    const body = await text(request);
    if (request.url === "/failing") {
      response.writeHead(503).end("The kitchen screen is offline.");
      return;
    }
    messages.push({ headers: request.headers, body });
    const isFailing = failingText !== undefined && body.includes(failingText);
    if (isFailing) failingText = undefined;
    response.writeHead(isFailing ? 503 : 204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `${origin}/webhooks`,
    failingUrl: `${origin}/failing`,
    /** Returns the received messages about an event whose body contains this text, from first to last. */
    messagesOf: (event: string, part = "") =>
      messages.filter(({ headers, body }) => headers["x-popina-webhook-event"] === event && body.includes(part)),
    /** Responds with 503 to the next message whose body contains this text. */
    failOnce(part: string) {
      failingText = part;
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
