import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A message as it came in. */
export interface ReceivedWebhook {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its last byte had come, in milliseconds. */
  receivedAtMs: number;
}

/** What an endpoint does with a message. */
export type ReceiverHandler = (message: ReceivedWebhook, response: ServerResponse) => void | Promise<void>;

/** An endpoint of a receiver. */
export interface ReceiverEndpoint {
  url: string;
  /** What came in, also what it did not answer. */
  receivedWebhooks: ReceivedWebhook[];
  /** What it does from now on. */
  setHandler(behaviour: ReceiverHandler): void;
}

/** Whoever gets webhooks, on this machine. */
export interface WebhookReceiver {
  origin: string;
  /** Another endpoint, which answers 204 unless told otherwise. */
  addEndpoint(behaviour?: ReceiverHandler): ReceiverEndpoint;
  /** How many connections were made to it. */
  connectionCount: number;
  close(): Promise<void>;
}

/** Answers with a status, after a while. */
export const respondWith =
  (status: number, { delayMs = 0, body = "", headers = {} }: RespondOptions = {}): ReceiverHandler =>
  (_, response) => {
    setTimeout(() => response.writeHead(status, headers).end(body), delayMs);
  };

interface RespondOptions {
  /** Milliseconds. */
  delayMs?: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

export async function startWebhookReceiver({ host = "127.0.0.1" } = {}): Promise<WebhookReceiver> {
  const endpoints = new Map<string, { received: ReceivedWebhook[]; behaviour: ReceiverHandler }>();
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = "", headers } = request;
    const message = { path, method, headers, body, receivedAtMs: performance.now() };
    const endpoint = endpoints.get(path);
    endpoint?.received.push(message);
    await (endpoint?.behaviour ?? respondWith(404))(message, response);
  });
  server.on("connection", () => {
    receiver.connectionCount += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: WebhookReceiver = {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    connectionCount: 0,
    addEndpoint(behaviour = respondWith(204)) {
      const path = `/${randomUUID()}`;
      const endpoint = { received: [] as ReceivedWebhook[], behaviour };
      endpoints.set(path, endpoint);
      return {
        url: `${receiver.origin}${path}`,
        receivedWebhooks: endpoint.received,
        setHandler(next) {
          endpoint.behaviour = next;
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
