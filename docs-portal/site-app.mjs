import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Hono } from "hono";
import { accepts } from "hono/accepts";
import { getInstallationUrls } from "./installation-urls.mjs";
import { contentCodings, loadSiteFiles } from "./site-files.mjs";

const buildFolder = join(dirname(fileURLToPath(import.meta.url)), "build");

/**
 * Returns a Hono app that serves the files of the built site. `DOCS_URL`, `PUBLIC_URL` and `CONSOLE_URL` in `environment`
 * are the URLs of the site, the API and the console, which replace the URLs in the built files. `DOCS_DEMO_API_KEY` is an API key that all readers
 * receive, with which the home page reads a week of the demo.
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
  const demoAccess = JSON.stringify({ apiKey: environment.DOCS_DEMO_API_KEY || null });
  app.get("/demo-access.json", (context) =>
    context.body(demoAccess, 200, {
      "content-type": "application/json",
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    }),
  );
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
async function createFileResponse(context, { body, compress, headers }, status) {
  // Browsers list their codings without a preference, gzip first.
  for (const coding of contentCodings.filter((name) => acceptsCoding(context, name))) {
    const compressed = await compress(coding);
    if (compressed) return new Response(compressed, { status, headers: { ...headers, "content-encoding": coding } });
  }
  return new Response(body, { status, headers });
}

/**
 * @param {import("hono").Context} context
 * @param {string} coding
 */
const acceptsCoding = (context, coding) =>
  accepts(context, {
    header: "Accept-Encoding",
    supports: [coding],
    default: "identity",
    match: (accepted) => (accepted.some(({ type, q }) => q > 0 && type.toLowerCase() === coding) ? coding : "identity"),
  }) === coding;
