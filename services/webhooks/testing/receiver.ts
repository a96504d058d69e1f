import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A message as it came in. */
export interface Received {
  path: string;
  method: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its last byte had come, in milliseconds. */
  at: number;
}

/** What an endpoint does with a message. */
export type Behaviour = (message: Received, response: ServerResponse) => void | Promise<void>;

/** An endpoint of a receiver. */
export interface TestEndpoint {
  url: string;
  /** What came in, also what it did not answer. */
  received: Received[];
  /** What it does from now on. */
  behave(behaviour: Behaviour): void;
}

/** Whoever gets webhooks, on this machine. */
export interface Receiver {
  origin: string;
  /** Another endpoint, which answers 204 unless told otherwise. */
  endpoint(behaviour?: Behaviour): TestEndpoint;
  /** How many connections were made to it. */
  connections: number;
  close(): Promise<void>;
}

/** Answers with a status, after a while. */
export const answers =
  (status: number, { after = 0, body = "", headers = {} }: AnswerOptions = {}): Behaviour =>
  (_, response) => {
    setTimeout(() => response.writeHead(status, headers).end(body), after);
  };

interface AnswerOptions {
  /** Milliseconds. */
  after?: number;
  body?: string | Buffer;
  headers?: Record<string, string>;
}

export async function startReceiver({ host = "127.0.0.1" } = {}): Promise<Receiver> {
  const endpoints = new Map<string, { received: Received[]; behaviour: Behaviour }>();
  const server: Server = createServer(async (request, response) => {
    const path = request.url ?? "";
    const body = await text(request).catch(() => undefined);
    if (body === undefined) return;
    const { method = "", headers } = request;
    const message = { path, method, headers, body, at: performance.now() };
    const endpoint = endpoints.get(path);
    endpoint?.received.push(message);
    await (endpoint?.behaviour ?? answers(404))(message, response);
  });
  server.on("connection", () => {
    receiver.connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  const receiver: Receiver = {
    origin: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    connections: 0,
    endpoint(behaviour = answers(204)) {
      const path = `/${randomUUID()}`;
      const endpoint = { received: [] as Received[], behaviour };
      endpoints.set(path, endpoint);
      return {
        url: `${receiver.origin}${path}`,
        received: endpoint.received,
        behave(next) {
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
