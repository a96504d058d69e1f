/**
 * Serves the built site. Usage: `node serve.mjs [port]`. The default port is 3000. Port 0 selects any free port. With
 * `LISTEN_HOST=localhost`, only programs on this machine reach it.
 */
import { getRequestListener } from "@hono/node-server";
import { createDocumentationSiteApp } from "./site-app.mjs";
import { createSiteServer, listenOnSitePort } from "./site-server.mjs";

/** @type {ReturnType<typeof createDocumentationSiteApp> | undefined} */
let app;
const server = createSiteServer(
  getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 })),
);
listenOnSitePort(server, Number(process.argv[2] ?? 3000), (port) => {
  const url = `http://localhost:${port}`;
  app = createDocumentationSiteApp({ defaultSiteUrl: url });
  process.stdout.write(`The documentation is at ${url}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
