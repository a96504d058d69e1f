import { createServer } from "node:http";
import { createServer as createNetServer } from "node:net";

const maxConnections = 2_000;
/** Closes a connection that neither sends nor reads for this time. */
const idleTimeoutMs = 30_000;
const maxHeaderTimeMs = 10_000;
/** Closes a connection whose client has not read a response by this time. */
const maxResponseTimeMs = 60_000;
/** Closes a connection with more unanswered requests, because each of them needs memory. */
const maxPipelinedRequests = 8;

/**
 * Returns a server for the files of a site, which limits its connections, and what each of them can request and hold.
 * @param {import("node:http").RequestListener} handleRequest
 */
export function createSiteServer(handleRequest) {
  /** @type {WeakMap<import("node:net").Socket, { unanswered: number, timeout: NodeJS.Timeout | undefined }>} */
  const connections = new WeakMap();
  const server = createServer(
    // Node checks the timeouts only every 30 seconds by default.
    { headersTimeout: maxHeaderTimeMs, requestTimeout: maxHeaderTimeMs, connectionsCheckingInterval: 1_000 },
    (incoming, outgoing) => {
      const { socket } = incoming;
      const connection = connections.get(socket);
      if (!connection || socket.destroyed) return;
      if (connection.unanswered >= maxPipelinedRequests) return void socket.destroy();
      connection.unanswered += 1;
      connection.timeout ??= setTimeout(() => socket.destroy(), maxResponseTimeMs);
      // Nothing reads a body. If it is invalid, Node would respond to the request once more.
      if (incoming.headers["transfer-encoding"] || incoming.headers["content-length"]) outgoing.shouldKeepAlive = false;
      outgoing.once("close", () => {
        connection.unanswered -= 1;
        clearTimeout(connection.timeout);
        connection.timeout = undefined;
        if (connection.unanswered > 0 && !socket.destroyed)
          connection.timeout = setTimeout(() => socket.destroy(), maxResponseTimeMs);
      });
      try {
        handleRequest(incoming, outgoing);
      } catch (error) {
        // One request must not end the process for all others.
        process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
        socket.destroy();
      }
    },
  );
  server.on("connection", (socket) => {
    /** @type {{ unanswered: number, timeout: NodeJS.Timeout | undefined }} */
    const connection = { unanswered: 0, timeout: undefined };
    connections.set(socket, connection);
    // Responses that wait for an earlier response do not close when the connection is destroyed.
    socket.once("close", () => clearTimeout(connection.timeout));
  });
  server.maxConnections = maxConnections;
  server.setTimeout(idleTimeoutMs);
  return server;
}

/**
 * Listens on all addresses of the machine, or on those of the variable `LISTEN_HOST`. With `localhost`, these are 127.0.0.1
 * and ::1.
 * @param {import("node:http").Server} server
 * @param {number} port
 * @param {(port: number) => void} onListening
 */
export function listenOnSitePort(server, port, onListening) {
  const host = process.env.LISTEN_HOST || undefined;
  server.listen({ port, host: host === "localhost" ? "127.0.0.1" : host }, () => {
    const address = server.address();
    const boundPort = typeof address === "object" && address ? address.port : port;
    if (host === "localhost") listenOnIpv6Loopback(server, boundPort);
    onListening(boundPort);
  });
}

/**
 * Passes connections to ::1 to a server that listens on 127.0.0.1, because one server listens on one address only.
 * @param {import("node:http").Server} server
 * @param {number} port
 */
function listenOnIpv6Loopback(server, port) {
  // The same options as those of HTTP servers.
  const listener = createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.emit("connection", socket);
  });
  listener.maxConnections = server.maxConnections;
  listener.on("error", (error) => {
    // The machine has no IPv6.
    if ("code" in error && ["EADDRNOTAVAIL", "EAFNOSUPPORT"].includes(String(error.code))) return;
    throw error;
  });
  listener.listen(port, "::1");
}
