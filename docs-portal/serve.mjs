/** Serves the built site. Usage: `node serve.mjs [port]`. The default port is 3000. Port 0 selects any free port. */
import { createAdaptorServer } from "@hono/node-server";
import { createDocumentationSiteApp } from "./site-app.mjs";

const maxConnections = 2_000;
/** Closes a connection that neither sends nor reads for this time. */
const idleTimeoutMs = 30_000;
const maxHeaderTimeMs = 10_000;

/** @type {ReturnType<typeof createDocumentationSiteApp> | undefined} */
let app;
const server = createAdaptorServer({
  fetch: (request) => app?.fetch(request) ?? new Response(null, { status: 503 }),
  serverOptions: { headersTimeout: maxHeaderTimeMs, requestTimeout: maxHeaderTimeMs },
});
server.maxConnections = maxConnections;
if ("setTimeout" in server) server.setTimeout(idleTimeoutMs);
server.listen(Number(process.argv[2] ?? 3000), () => {
  const address = server.address();
  const url = `http://localhost:${typeof address === "object" ? address?.port : address}`;
  app = createDocumentationSiteApp({ defaultSiteUrl: url });
  process.stdout.write(`The documentation is at ${url}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    server.close(() => process.exit(0));
    if ("closeAllConnections" in server) server.closeAllConnections();
  });
