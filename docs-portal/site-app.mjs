import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { etag } from "hono/etag";

const buildFolder = join(dirname(fileURLToPath(import.meta.url)), "build");

/**
 * Returns the `cache-control` header for a path. The name of a file in `/assets/` contains a hash of its content, so
 * browsers can cache the file forever.
 */
const cacheControl = (/** @type {string} */ path) =>
  path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";

/**
 * Returns a Hono app that serves the files of the built site.
 * @param {string} [folder]
 */
export function createDocumentationSiteApp(folder = buildFolder) {
  const app = new Hono();
  app.use(compress());
  app.use(etag());
  app.use(async (context, next) => {
    await next();
    context.res.headers.set("x-content-type-options", "nosniff");
    if (context.res.status === 200) context.res.headers.set("cache-control", cacheControl(context.req.path));
  });
  app.get("/docs", (context) => context.redirect("/docs/getting-started"));
  app.get("/docs/", (context) => context.redirect("/docs/getting-started"));
  app.get("*", serveStatic({ root: folder }));
  app.notFound((context) => context.html(readFileSync(join(folder, "404.html"), "utf8"), 404));
  return app;
}
