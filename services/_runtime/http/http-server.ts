import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerOptions, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, toProblemDetails } from "@pragma/contracts/errors";

/** An HTTP server that is listening. */
export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

/** The timeouts and sizes of every server of this product. */
const serverOptions = {
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  /** The headers that the gateway accepts and adds fit into half of it. */
  maxHeaderSize: 64 * 1024,
} satisfies ServerOptions;

/** How long running requests may take to finish when the server stops. */
const drainTimeoutMs = 20_000;
/** How often a stopping server closes connections that have become idle. */
const closeIdleIntervalMs = 50;

type FetchHandler = (
  request: Request,
  bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

/** Returns the response to a request with an invalid URL or host, which no app receives, or one whose app threw. */
function createUnreadableRequestResponse(error: unknown): Response {
  const requestId = crypto.randomUUID();
  const isUnreadable = error instanceof RequestError;
  const detail = isUnreadable ? `The URL of the request is invalid: ${error.message}.` : "Try again later.";
  const problem = toProblemDetails(
    new ApiError(isUnreadable ? "invalid_request" : "internal_error", { detail }),
    requestId,
  );
  return Response.json(problem, {
    status: problem.status,
    headers: { "content-type": "application/problem+json", "x-request-id": requestId },
  });
}

/** The maximum number of unanswered requests on a connection; one more closes the connection. */
const maxPipelinedRequests = 8;

/**
 * The state of one connection, kept in one object as long as the connection lives. A map of responses would move them
 * into the old generation of the heap.
 */
interface ConnectionState {
  /** True until the first request: node does not count such a connection as idle. */
  hasNoRequestYet: boolean;
  /** The response that was started last, until it is closed. */
  latestResponse: ServerResponse | undefined;
  pendingResponses: number;
}

interface ListenOptions {
  /** 0 for any free port. */
  port: number;
  /** Called before the server listens. */
  configure?(server: Server): void;
}

/**
 * Serves a Hono app on a port. The requests of one connection are handled one after the other.
 *
 * @throws `Error` when the port is taken.
 */
export async function startHttpServer(fetch: FetchHandler, { port, configure }: ListenOptions) {
  const handleRequest = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // Node itself reads the rest of a body whose response was sent early, within requestTimeout.
    autoCleanupIncoming: false,
    errorHandler: createUnreadableRequestResponse,
  });
  const connections = new Map<Socket, ConnectionState>();
  let isDraining = false;

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const connection = connections.get(socket);
    // Node had already read this request when the connection was closed.
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
  // Without this, node silently drops the headers beyond `maxHeadersCount`.
  server.maxHeadersCount = 0;
  // Without this, node sends 100 Continue before the API key has been checked.
  server.on("checkContinue", onRequest);
  server.on("connection", (socket: Socket) => {
    connections.set(socket, { hasNoRequestYet: true, latestResponse: undefined, pendingResponses: 0 });
    socket.once("close", () => connections.delete(socket));
  });
  configure?.(server);

  /** From now on closes each connection after its next response. */
  function drain(): void {
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
    throw isTaken ? new Error(`Port ${port} is taken: stop the process that uses it, or choose another port.`) : error;
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain,
    /** Accepts no more connections, lets running requests finish, and closes idle connections. */
    async stop(): Promise<void> {
      drain();
      const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
      // A connection that was busy when the server closed becomes idle later and would stay open.
      const interval = setInterval(closeIdleConnections, closeIdleIntervalMs);
      const closed = new Promise((resolve) => server.close(resolve));
      closeIdleConnections();
      await closed;
      clearTimeout(deadline);
      clearInterval(interval);
    },
  };
}
