import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { getInstallationUrls } from "./installation-urls.mjs";
import { loadSiteFiles } from "./site-files.mjs";

const buildFolder = join(dirname(fileURLToPath(import.meta.url)), "build");

/**
 * Returns a Hono app that serves the files of the built site. `DOCS_URL` and `PUBLIC_URL` in `environment` are the URLs
 * of the site and the API, which replace the URLs in the built files.
 * @param {{ folder?: string, environment?: NodeJS.ProcessEnv, defaultSiteUrl?: string }} [options]
 * @throws `TypeError` if a URL in `environment` is invalid.
 */
export function createDocumentationSiteApp({
  folder = buildFolder,
  environment = process.env,
  defaultSiteUrl = "http://localhost:3000",
} = {}) {
  const files = loadSiteFiles(folder, getInstallationUrls(environment, defaultSiteUrl));
  const notFoundPage = files.get("/404.html");
  if (!notFoundPage) throw new Error(`${folder} contains no built site`);
  const app = new Hono();
  for (const path of ["/docs", "/docs/"])
    app.get(path, (context) => {
      context.header("x-content-type-options", "nosniff");
      return context.redirect("/docs/getting-started");
    });
  app.get("*", (context) => {
    const file = files.get(context.req.path);
    if (!file) return createFileResponse(context, notFoundPage, 404);
    // Middleware for entity tags would read the body of each response.
    const knownTags = (context.req.header("if-none-match") ?? "").split(",").map((tag) => tag.trim());
    if (knownTags.includes(file.headers.etag ?? "")) return new Response(null, { status: 304, headers: file.headers });
    return createFileResponse(context, file, 200);
  });
  app.all(
    "*",
    () =>
      new Response("Method not allowed\n", {
        status: 405,
        headers: { allow: "GET, HEAD", "content-type": "text/plain", "x-content-type-options": "nosniff" },
      }),
  );
  return app;
}

/**
 * @param {import("hono").Context} context
 * @param {import("./site-files.mjs").SiteFile} file
 * @param {number} status
 */
function createFileResponse(context, { body, compressed, headers }, status) {
  const codings = [...compressed.keys()];
  // Browsers list their codings without a preference, gzip first.
  const coding = accepts(context, {
    header: "Accept-Encoding",
    supports: codings,
    default: "identity",
    match: (accepted) =>
      codings.find((name) => accepted.some(({ type, q }) => q > 0 && type.toLowerCase() === name)) ?? "identity",
  });
  const compressedBody = compressed.get(coding);
  return compressedBody
    ? new Response(compressedBody, { status, headers: { ...headers, "content-encoding": coding } })
    : new Response(body, { status, headers });
}
