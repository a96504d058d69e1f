/** Serves the built site. Usage: `node serve.mjs [port]`. The default port is 3000. Port 0 selects any free port. */
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { createDocumentationSiteApp } from "./site-app.mjs";

const maxConnections = 2_000;
/** Closes a connection that neither sends nor reads for this time. */
const idleTimeoutMs = 30_000;
const maxHeaderTimeMs = 10_000;
/** Closes a connection whose client has not read a response by this time. */
const maxResponseTimeMs = 60_000;
/** Closes a connection with more unanswered requests, because each of them needs memory. */
const maxPipelinedRequests = 8;

/** @type {ReturnType<typeof createDocumentationSiteApp> | undefined} */
let app;
const handleRequest = getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 }));
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
    void handleRequest(incoming, outgoing);
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
server.listen(Number(process.argv[2] ?? 3000), () => {
  const address = server.address();
  const url = `http://localhost:${typeof address === "object" ? address?.port : address}`;
  app = createDocumentationSiteApp({ defaultSiteUrl: url });
  process.stdout.write(`The documentation is at ${url}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
