import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, toProblemDetails } from "@pragma/contracts/errors";

/** An HTTP server that is listening. */
export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

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

type FetchHandler = (
  request: Request,
  bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

/** Answers a request whose address or host cannot be read, which no app is asked about, and one that an app failed at. */
function createUnreadableRequestResponse(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const isUnreadable = error instanceof RequestError;
  const detail = isUnreadable ? `The address of the request cannot be read: ${error.message}.` : "Try again later.";
  const problem = toProblemDetails(
    new ApiError(isUnreadable ? "invalid_request" : "internal_error", { detail }),
    requestId,
  );
  return Response.json(problem, {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "x-request-id": requestId },
  });
}

/** Requests that a client may have sent on a connection before it has its responses; more close the connection. */
const maxPipelinedRequests = 8;

/**
 * One object for as long as the connection lives: responses that come and go in a map would be kept by its former
 * tables, past the collection of young memory.
 */
interface ConnectionState {
  /** Until it has sent a request: node does not count such a connection as idle. */
  hasNoRequestYet: boolean;
  /** The response that was begun last, until it is over. */
  latestResponse: ServerResponse | undefined;
  pendingResponses: number;
}

interface ListenOptions {
  /** 0 for a free one. */
  port: number;
  /** Called before the server listens. */
  configure?(server: Server): void;
}

/**
 * Serves a Hono app on a port. The requests of a connection are handled one after the other, however many come at once.
 * Rejects with a clear message when the port is taken.
 */
export async function startHttpServer(fetch: FetchHandler, { port, configure }: ListenOptions) {
  const handleRequest = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // What is left of a body that was answered early is taken by node itself, within requestTimeout.
    autoCleanupIncoming: false,
    errorHandler: createUnreadableRequestResponse,
  });
  const connections = new Map<Socket, ConnectionState>();
  let isDraining = false;

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const connection = connections.get(socket);
    // What node had read already of a connection that was closed since.
    if (!connection || socket.destroyed) return;
    if (connection.pendingResponses >= maxPipelinedRequests) return void socket.destroy();
    if (isDraining) outgoing.shouldKeepAlive = false;
    const previous = connection.latestResponse;
    connection.hasNoRequestYet = false;
    connection.latestResponse = outgoing;
    connection.pendingResponses += 1;
    outgoing.once("close", () => {
      connection.pendingResponses -= 1;
      if (connection.latestResponse === outgoing) connection.latestResponse = undefined;
    });
    if (!previous) return void handleRequest(incoming, outgoing);
    previous.once("close", () => {
      if (!socket.destroyed) void handleRequest(incoming, outgoing);
    });
  };

  const server = createServer(serverOptions, onRequest);
  // Every header counts: node drops those past `maxHeadersCount` silently.
  server.maxHeadersCount = 0;
  // Without this, a client that waits to be told to send its body is told so before its key has been looked at.
  server.on("checkContinue", onRequest);
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { hasNoRequestYet: true, latestResponse: undefined, pendingResponses: 0 });
    socket.once("close", () => connections.delete(socket));
  });
  configure?.(server);

  /** Closes each connection with the response that comes next on it, from now on. */
  function retire(): void {
    isDraining = true;
    for (const { latestResponse } of connections.values()) {
      if (latestResponse && !latestResponse.headersSent) latestResponse.shouldKeepAlive = false;
    }
  }

  const closeIdleConnections = () => {
    server.closeIdleConnections();
    for (const [socket, { hasNoRequestYet }] of connections) if (hasNoRequestYet) socket.destroy();
  };

  server.listen(port, "0.0.0.0");
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const isTaken = error.code === "EADDRINUSE";
    throw isTaken ? new Error(`Port ${port} is taken: stop what uses it, or choose another.`) : error;
  });
  return {
    port: (server.address() as AddressInfo).port,
    retire,
    /** Takes no more connections, lets requests that are running finish, and closes idle connections. */
    async stop(): Promise<void> {
      retire();
      const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
      // A connection that was busy when the server closed stays open, idle, once it is done.
      const interval = setInterval(closeIdleConnections, closeIdleIntervalMs);
      const closed = new Promise((resolve) => server.close(resolve));
      closeIdleConnections();
      await closed;
      clearTimeout(deadline);
      clearInterval(interval);
    },
  };
}
