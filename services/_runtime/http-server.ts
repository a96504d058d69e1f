import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, problemOf } from "@pragma/contracts/errors";

/** An HTTP server that is listening. */
export interface HttpServer {
  port: number;
  /** Closes each connection with the response that comes next on it, from now on. */
  retire(): void;
  /** Takes no more connections, lets requests that are running finish, and closes idle connections. */
  stop(): Promise<void>;
}

/** Times and sizes that every server of this product keeps to. */
const serverOptions = {
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  /** What the gateway lets through, and its own headers, fit into half of it. */
  maxHeaderSize: 64 * 1024,
} satisfies ServerOptions;

/** How long requests that are running may take to finish when the server stops. */
const drainTimeoutMs = 20_000;
/** How often a stopping server closes the connections that became idle. */
const closeIdleIntervalMs = 50;

type Fetch = (
  request: Request,
  bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

/** Returns an HTTP server over a Hono app. Every header counts: node drops those past `maxHeadersCount` silently. */
export function createHttpServer(fetch: Fetch): Server {
  const answer = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // What is left of a body that was answered early is taken by node itself, within requestTimeout.
    autoCleanupIncoming: false,
    errorHandler: unreadableRequest,
  });
  const listener = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    // What node had read already of a connection that was closed since.
    if (!incoming.socket.destroyed) void answer(incoming, outgoing);
  };
  const server = createServer(serverOptions, listener);
  server.maxHeadersCount = 0;
  // Without this, a client that waits to be told to send its body is told so before its key has been looked at.
  server.on("checkContinue", listener);
  return server;
}

/** Answers a request whose address or host cannot be read, which no app is asked about, and one that an app failed at. */
function unreadableRequest(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const isUnreadable = error instanceof RequestError;
  const detail = isUnreadable ? `The address of the request cannot be read: ${error.message}.` : "Try again later.";
  const problem = problemOf(new ApiError(isUnreadable ? "invalid_request" : "internal_error", { detail }), requestId);
  return Response.json(problem, {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "x-request-id": requestId },
  });
}

/** Serves `fetch` on `port` (0 for a free one). Rejects with a clear message when it is taken. */
export function listen(fetch: Fetch, { port }: { port: number }): Promise<HttpServer> {
  return startListening(createHttpServer(fetch), { port });
}

/**
 * One object for as long as the connection lives: responses that come and go in a map would be kept by its former
 * tables, past the collection of young memory.
 */
interface Connection {
  /** Until it has sent a request: node does not count such a connection as idle. */
  isUnused: boolean;
  latest: ServerResponse | undefined;
}

/** Lets a server listen on `port` (0 for a free one). Rejects with a clear message when it is taken. */
export async function startListening(server: Server, { port }: { port: number }): Promise<HttpServer> {
  const connections = new Map<Socket, Connection>();
  let isRetiring = false;
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { isUnused: true, latest: undefined });
    socket.once("close", () => connections.delete(socket));
  });
  const track = ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    if (isRetiring) outgoing.shouldKeepAlive = false;
    const connection = connections.get(socket);
    if (!connection) return;
    connection.isUnused = false;
    connection.latest = outgoing;
    outgoing.once("close", () => {
      if (connection.latest === outgoing) connection.latest = undefined;
    });
  };
  server.prependListener("request", track);
  server.prependListener("checkContinue", track);

  const retire = () => {
    isRetiring = true;
    for (const { latest } of connections.values()) {
      if (latest && !latest.headersSent) latest.shouldKeepAlive = false;
    }
  };
  const closeIdle = () => {
    server.closeIdleConnections();
    for (const [socket, { isUnused }] of connections) if (isUnused) socket.destroy();
  };
  const closeAll = () => {
    for (const socket of connections.keys()) socket.destroy();
  };

  server.listen(port, "0.0.0.0");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const isTaken = error.code === "EADDRINUSE";
    throw isTaken ? new Error(`Port ${port} is taken: stop what uses it, or choose another.`) : error;
  });
  return {
    port: (server.address() as AddressInfo).port,
    retire,
    async stop() {
      retire();
      const deadline = setTimeout(closeAll, drainTimeoutMs);
      // A connection that was busy when the server closed stays open, idle, once it is done.
      const interval = setInterval(closeIdle, closeIdleIntervalMs);
      const closed = new Promise((resolve) => server.close(resolve));
      closeIdle();
      await closed;
      clearTimeout(deadline);
      clearInterval(interval);
    },
  };
}
