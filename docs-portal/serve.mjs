/** Serves the built site. Usage: `node serve.mjs [port]`. The default port is 3000. Port 0 selects any free port. */
import { serve } from "@hono/node-server";
import { createDocumentationSiteApp } from "./site-app.mjs";

const port = Number(process.argv[2] ?? 3000);
const server = serve({ fetch: createDocumentationSiteApp().fetch, port }, (address) => {
  process.stdout.write(`The documentation is at http://localhost:${address.port}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    server.close(() => process.exit(0));
    server.closeAllConnections();
  });
