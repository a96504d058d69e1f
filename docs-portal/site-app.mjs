import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { serveStatic } from "@hono/node-server/serve-static";
import { Hono } from "hono";
import { compress } from "hono/compress";
import { etag } from "hono/etag";
import { getInstallationUrls, replaceBuiltUrls } from "./installation-urls.mjs";

const buildFolder = join(dirname(fileURLToPath(import.meta.url)), "build");

/**
 * Returns the `cache-control` header for a path. The name of a file in `/assets/` contains a hash of its content, so
 * browsers can cache the file forever.
 */
const cacheControl = (/** @type {string} */ path) =>
  path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache";

/**
 * Returns a Hono app that serves the files of the built site. `DOCS_URL` and `PUBLIC_URL` in `environment` are the URLs
 * of the site and the API, which replace the URLs in the built files.
 * @param {{ folder?: string, environment?: NodeJS.ProcessEnv }} [options]
 */
export function createDocumentationSiteApp({ folder = buildFolder, environment = process.env } = {}) {
  const app = new Hono();
  app.use(compress());
  app.use(etag());
  app.use(async (context, next) => {
    await next();
    context.res.headers.set("x-content-type-options", "nosniff");
    if (context.res.status === 200) context.res.headers.set("cache-control", cacheControl(context.req.path));
  });
  app.use(async (context, next) => {
    await next();
    // The static file server does not know the type of Markdown files.
    if (context.res.status === 200 && context.req.path.endsWith(".md"))
      context.res.headers.set("content-type", "text/markdown; charset=utf-8");
    if (isWholeTextFile(context.res)) context.res = await createResponseWithInstallationUrls(context, environment);
  });
  app.get("/docs", (context) => context.redirect("/docs/getting-started"));
  app.get("/docs/", (context) => context.redirect("/docs/getting-started"));
  app.get("*", serveStatic({ root: folder }));
  app.notFound((context) => context.html(readFileSync(join(folder, "404.html"), "utf8"), 404));
  return app;
}

/**
 * Returns whether the response can contain the URLs of the site or the API. Part of a file, after a range request, is
 * excluded, because replaced URLs would change the positions in the file.
 * @param {Response} response
 */
function isWholeTextFile({ status, body, headers }) {
  const type = headers.get("content-type") ?? "";
  return status !== 206 && body !== null && /^(?:text\/(?!css)|application\/(?:json|javascript|xml))/.test(type);
}

/**
 * Returns the response of the context with the URLs of the installation.
 * @param {import("hono").Context} context
 * @param {NodeJS.ProcessEnv} environment
 */
async function createResponseWithInstallationUrls({ req, res }, environment) {
  const urls = getInstallationUrls(environment, {
    host: req.header("host"),
    forwardedProto: req.header("x-forwarded-proto"),
  });
  // Deleted here, because Hono copies the headers of the replaced response.
  res.headers.delete("content-length");
  return new Response(replaceBuiltUrls(await res.text(), urls), { status: res.status, headers: res.headers });
}
