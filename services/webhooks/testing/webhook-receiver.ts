import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface ReceivedWebhookRequest {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When the last byte arrived, in milliseconds, as measured by `performance.now()`. */
  receivedAtMs: number;
}

/** Handles a message that an endpoint receives. */
export type TestWebhookReceiverHandler = (
  message: ReceivedWebhookRequest,
  response: ServerResponse,
) => void | Promise<void>;

/** An endpoint of a test receiver, with the messages that the endpoint has received. */
export interface TestWebhookReceiverEndpoint {
  url: string;
  /** All received messages, whether or not a response was sent. */
  receivedWebhooks: ReceivedWebhookRequest[];
  /** Replaces the handler for all later messages. */
  setHandler(handler: TestWebhookReceiverHandler): void;
}

/** A local HTTP server that receives webhooks. */
export interface TestWebhookReceiver {
  origin: string;
  /** Adds an endpoint, which responds with 204 unless a handler is given. */
  addEndpoint(handler?: TestWebhookReceiverHandler): TestWebhookReceiverEndpoint;
  /** Number of connections that the server has accepted. */
  connectionCount: number;
  close(): Promise<void>;
}

/** Returns a handler that responds with a status after a delay of `delayMs`. */
export const createFixedStatusResponseHandler =
  (status: number, { delayMs = 0, body = "", headers = {} }: RespondOptions = {}): TestWebhookReceiverHandler =>
  (_, response) => {
    setTimeout(() => response.writeHead(status, headers).end(body), delayMs);
  };

interface RespondOptions {
  delayMs?: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

export async function startTestWebhookReceiver({ host = "127.0.0.1" } = {}): Promise<TestWebhookReceiver> {
  const endpoints = new Map<string, { received: ReceivedWebhookRequest[]; handler: TestWebhookReceiverHandler }>();
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = "", headers } = request;
    const message = { path, method, headers, body, receivedAtMs: performance.now() };
    const endpoint = endpoints.get(path);
    endpoint?.received.push(message);
    await (endpoint?.handler ?? createFixedStatusResponseHandler(404))(message, response);
  });
  server.on("connection", () => {
    receiver.connectionCount += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: TestWebhookReceiver = {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    connectionCount: 0,
    addEndpoint(handler = createFixedStatusResponseHandler(204)) {
      const path = `/${randomUUID()}`;
      const endpoint = { received: [] as ReceivedWebhookRequest[], handler };
      endpoints.set(path, endpoint);
      return {
        url: `${receiver.origin}${path}`,
        receivedWebhooks: endpoint.received,
        setHandler(nextHandler) {
          endpoint.handler = nextHandler;
        },
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
