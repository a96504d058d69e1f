import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from "node:http";
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { getRequestListener, RequestError } from "@hono/node-server";
import { ApiError, type ApiErrorCode, toProblemDetails } from "@pragma/contracts/errors";

/** An HTTP server that is listening. */
export type HttpServer = Awaited<ReturnType<typeof startHttpServer>>;

const serverOptions = {
  keepAliveTimeout: 75_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  /** At least twice the total size of the headers that the gateway accepts from clients and of those that it adds. */
  maxHeaderSize: 64 * 1024,
} satisfies ServerOptions;

/** The request of a connection that is younger, in milliseconds, may still be on its way when the server stops. */
const firstRequestGraceMs = 1_000;
const closeIdleIntervalMs = 50;

type FetchHandler = (
  request: Request,
  bindings: { incoming: IncomingMessage; outgoing: ServerResponse },
) => Response | Promise<Response>;

function createProblem(code: ApiErrorCode, detail: string, docsUrl: string | undefined) {
  const requestId = crypto.randomUUID();
  const problem = toProblemDetails(new ApiError(code, { detail }), requestId, docsUrl);
  return { problem, headers: { "content-type": "application/problem+json", "x-request-id": requestId } };
}

/** Returns the error response to a request whose URL or host is invalid, or whose handler threw an error. */
function createUnreadableRequestResponse(error: unknown, docsUrl: string | undefined): Response {
  const { problem, headers } =
    error instanceof RequestError
      ? createProblem("invalid_request", `The URL of the request is invalid: ${error.message}.`, docsUrl)
      : createProblem("internal_error", "Try again later.", docsUrl);
  return Response.json(problem, { status: problem.status, headers });
}

/** The errors of requests that Node.js does not pass on, because they are not valid HTTP, too long or too slow. */
const unparsedRequestErrors: Record<string, [ApiErrorCode, string]> = {
  HPE_HEADER_OVERFLOW: ["headers_too_large", "The headers are too long. Send fewer or shorter headers."],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ["body_too_large", "The chunk extensions are too long. Send chunks without them."],
  ERR_HTTP_REQUEST_TIMEOUT: ["request_timeout", "The request did not arrive in time. Send it again, faster."],
};

/** Returns the response to such a request as bytes. Node.js itself would respond without a body. */
function formatUnparsedRequestResponse(error: NodeJS.ErrnoException, docsUrl: string | undefined): string {
  const [code, detail] = unparsedRequestErrors[error.code ?? ""] ?? [
    "invalid_request",
    `This is not a valid HTTP request: ${error.message.replace(/^Parse Error: /, "")}.`,
  ];
  const { problem, headers } = createProblem(code, detail, docsUrl);
  const body = JSON.stringify(problem);
  return [
    `HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${Buffer.byteLength(body)}`,
    "connection: close",
    "",
    body,
  ].join("\r\n");
}

/** The maximum number of unanswered requests on a connection. A connection with more requests is closed. */
const maxPipelinedRequests = 8;

/** One object for all requests of a connection, because a map of responses would keep them in memory for longer. */
interface ConnectionState {
  /**
   * When the connection was opened, as of `performance.now()`. Infinite from the first request on, because only then
   * `server.closeIdleConnections` closes the connection.
   */
  unusedSince: number;
  /** The response to the latest request, or undefined after that response has closed. */
  latestResponse: ServerResponse | undefined;
  /** A request whose body had not arrived when its response closed. What follows is this body, not another request. */
  answeredRequest: IncomingMessage | undefined;
  pendingResponses: number;
  /** The time from which the connection closes after its next response, as of `performance.now()`. */
  expiresAt: number;
}

interface ListenOptions {
  port: number;
  /** An IP address, or `localhost` for both addresses of this machine, 127.0.0.1 and ::1. Default: `0.0.0.0`. */
  host?: string;
  docsUrl?: string;
  /** A connection closes with its next response after this time and up to a fifth more, in milliseconds. */
  maxConnectionAgeMs?: number;
  drainTimeoutMs?: number;
  configure?(server: Server): void;
}

/** Handles the requests of one connection one after the other. @throws `Error` when the port is already in use. */
export async function startHttpServer(fetch: FetchHandler, options: ListenOptions) {
  const { port, host = "0.0.0.0", docsUrl, configure } = options;
  const { maxConnectionAgeMs = Number.POSITIVE_INFINITY, drainTimeoutMs = 10_000 } = options;
  const handleRequest = getRequestListener(fetch as Parameters<typeof getRequestListener>[0], {
    // The adapter need not read the rest of an unread body, because Node itself reads it, within `requestTimeout`.
    autoCleanupIncoming: false,
    // Used for requests without a host, which health probes send with HTTP/1.0, or with an empty Host header.
    hostname: "localhost",
    errorHandler: (error) => createUnreadableRequestResponse(error, docsUrl),
  });
  const connections = new Map<Socket, ConnectionState>();
  let isDraining = false;

  const onRequest = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const connection = connections.get(socket);
    // Ignores the request if the connection was closed after Node had parsed the request.
    if (!connection || socket.destroyed) return;
    if (connection.pendingResponses >= maxPipelinedRequests) return void socket.destroy();
    if (isDraining || performance.now() >= connection.expiresAt) outgoing.shouldKeepAlive = false;
    const previous = connection.latestResponse;
    connection.unusedSince = Number.POSITIVE_INFINITY;
    connection.latestResponse = outgoing;
    connection.answeredRequest = undefined;
    connection.pendingResponses += 1;
    outgoing.once("close", () => {
      connection.pendingResponses -= 1;
      if (connection.latestResponse === outgoing) connection.latestResponse = undefined;
      if (!incoming.complete) connection.answeredRequest = incoming;
    });
    if (!previous) return void handleRequest(incoming, outgoing);
    previous.once("close", () => {
      if (!socket.destroyed) void handleRequest(incoming, outgoing);
    });
  };

  const server = createServer(serverOptions, onRequest);
  // 0 removes the maximum number of headers, because Node would silently drop the headers above the maximum.
  server.maxHeadersCount = 0;
  // Without this listener, Node sends 100 Continue before the API key has been checked.
  server.on("checkContinue", onRequest);
  // Without this listener, Node itself responds to other expectations, without the limits and the log of the app.
  server.on("checkExpectation", onRequest);
  server.on("connection", (socket: Socket) => {
    const openedAt = performance.now();
    const expiresAt = openedAt + maxConnectionAgeMs * (1 + Math.random() / 5);
    connections.set(socket, {
      ...{ unusedSince: openedAt, expiresAt, pendingResponses: 0 },
      ...{ latestResponse: undefined, answeredRequest: undefined },
    });
    socket.once("close", () => connections.delete(socket));
  });
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const { latestResponse, answeredRequest } = connections.get(socket) ?? {};
    // A second response to one request could reach another client of a proxy.
    const hasResponse = latestResponse?.headersSent || answeredRequest?.complete === false;
    if (!socket.writable || hasResponse || error.code === "ECONNRESET") return void socket.destroy();
    socket.end(formatUnparsedRequestResponse(error, docsUrl), () => socket.destroy());
  });
  configure?.(server);

  /** Makes every connection close after its next response. */
  function drain(): void {
    isDraining = true;
    for (const { latestResponse } of connections.values()) {
      if (latestResponse && !latestResponse.headersSent) latestResponse.shouldKeepAlive = false;
    }
  }

  const closeIdleConnections = () => {
    server.closeIdleConnections();
    const openedBefore = performance.now() - firstRequestGraceMs;
    for (const [socket, { unusedSince }] of connections) if (unusedSince < openedBefore) socket.destroy();
  };

  await listen(server, port, host === "localhost" ? "127.0.0.1" : host);
  const { port: boundPort } = server.address() as AddressInfo;
  const ipv6Listener = host === "localhost" ? await listenOnIpv6Loopback(server, boundPort) : undefined;
  return {
    port: boundPort,
    drain,
    /** Stops accepting connections, closes idle connections, and waits for requests in progress. */
    async stop(): Promise<void> {
      drain();
      await waitUntilNoConnectionIsQueued();
      const deadline = setTimeout(() => server.closeAllConnections(), drainTimeoutMs);
      // A connection can become idle after `server.close()` and would then stay open.
      const interval = setInterval(closeIdleConnections, closeIdleIntervalMs);
      const listeners = ipv6Listener ? [server, ipv6Listener] : [server];
      const closed = listeners.map((each) => new Promise((resolve) => each.close(resolve)));
      closeIdleConnections();
      await Promise.all(closed);
      clearTimeout(deadline);
      clearInterval(interval);
    },
  };
}

/** @throws `Error` when the port is already in use. */
async function listen(server: NetServer, port: number, host: string): Promise<void> {
  server.listen(port, host);
  await once(server, "listening").catch((error: NodeJS.ErrnoException) => {
    const isTaken = error.code === "EADDRINUSE";
    throw isTaken ? new Error(`Port ${port} is in use. Stop the process that uses it, or choose another port.`) : error;
  });
}

/**
 * Passes connections to ::1 to a server that listens on 127.0.0.1, because one server listens on one address only. Returns
 * undefined if the machine has no IPv6.
 */
async function listenOnIpv6Loopback(server: Server, port: number): Promise<NetServer | undefined> {
  // The same options as those of HTTP servers.
  const listener = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit("connection", socket);
  });
  listener.maxConnections = server.maxConnections;
  try {
    await listen(listener, port, "::1");
    return listener;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(code)) return undefined;
    await new Promise((resolve) => server.close(resolve));
    throw error;
  }
}

/** A turn of the event loop that is shorter, in milliseconds, has accepted all queued connections. */
const maxIdleTurnMs = 0.5;
/** Maximum milliseconds for which a server that stops waits for such a turn. */
const maxIdleTurnWaitMs = 250;

/** Waits for a turn in which Node accepts all queued connections, which closing the server would reset. */
async function waitUntilNoConnectionIsQueued(): Promise<void> {
  const deadline = performance.now() + maxIdleTurnWaitMs;
  for (;;) {
    const startedAt = performance.now();
    await setImmediate();
    const now = performance.now();
    if (now - startedAt < maxIdleTurnMs || now > deadline) return;
  }
}
