/** Serves the built site. Usage: `node serve.mjs [port]`. The default port is 3000. Port 0 selects any free port. */
import { getRequestListener } from "@hono/node-server";
import { createDocumentationSiteApp } from "./site-app.mjs";
import { createSiteServer } from "./site-server.mjs";

/** @type {ReturnType<typeof createDocumentationSiteApp> | undefined} */
let app;
const server = createSiteServer(
  getRequestListener((request) => app?.fetch(request) ?? new Response(null, { status: 503 })),
);
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
