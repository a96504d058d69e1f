import { createServer } from "node:http";

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
