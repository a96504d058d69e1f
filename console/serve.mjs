/**
 * Serves the built console. Usage: `node serve.mjs [port]`. The default port is 3002. Port 0 selects any free port. With
 * `LISTEN_HOST=localhost`, only programs on this machine reach it.
 *
 * `PUBLIC_URL` is the URL of the API (default: http://localhost:4000), and `DOCS_URL` that of the documentation (default:
 * http://localhost:3000/docs). With `SANDBOXES=on`, the sign-in page offers to create a sandbox. The browser gets these from
 * `/config.json`, so one build serves every installation.
 */
import { dirname, join } from "node:path";
import { argv, env, exit, stdout } from "node:process";
import { fileURLToPath } from "node:url";
import sirv from "sirv";
import { createSiteServer, listenOnSitePort } from "../docs-portal/site-server.mjs";

const buildFolder = join(dirname(fileURLToPath(import.meta.url)), "build");
const apiUrl = readOrigin("PUBLIC_URL", env.PUBLIC_URL || "http://localhost:4000");
const docsUrl = readUrl("DOCS_URL", env.DOCS_URL || "http://localhost:3000/docs");
const installation = JSON.stringify({ apiUrl, docsUrl, hasSandboxes: env.SANDBOXES === "on" });

/** Nothing is loaded from other servers, and nothing within the page is run or applied as a style. */
const contentSecurityPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  `connect-src 'self' ${apiUrl}`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const securityHeaders = {
  "content-security-policy": contentSecurityPolicy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
};

const serveFile = sirv(buildFolder, {
  brotli: true,
  gzip: true,
  etag: true,
  // Paths of views get the same page, which shows the view.
  single: true,
  ignores: [/^\/(?:assets|config)/],
  setHeaders(response, path) {
    const isHashed = path.startsWith("/assets/");
    response.setHeader("cache-control", isHashed ? "public, max-age=31536000, immutable" : "no-cache");
  },
});

const server = createSiteServer((request, response) => {
  for (const [name, value] of Object.entries(securityHeaders)) response.setHeader(name, value);
  if (request.method !== "GET" && request.method !== "HEAD") {
    response.writeHead(405, { allow: "GET, HEAD" }).end();
    return;
  }
  if (request.url === "/config.json") {
    const headers = { "content-type": "application/json", "cache-control": "no-cache" };
    response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : installation);
    return;
  }
  // The files are small. sirv does not check which bytes of a file a client asks for.
  delete request.headers.range;
  serveFile(request, response, () => response.writeHead(404, { "content-type": "text/plain" }).end("Not found\n"));
});

listenOnSitePort(server, Number(argv[2] ?? 3002), (port) => {
  stdout.write(`The console is at http://localhost:${port}\n`);
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"])
  process.once(signal, () => {
    server.close(() => exit(0));
    server.closeAllConnections();
  });

/**
 * @param {string} name
 * @param {string} value
 * @returns {string} the URL without a slash at its end
 * @throws {TypeError} if the value is not an http: or https: URL
 */
function readUrl(name, value) {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol))
    throw new TypeError(`${name} must be an http: or https: URL`);
  return new URL(value).href.replace(/\/$/, "");
}

/**
 * @param {string} name
 * @param {string} value
 */
function readOrigin(name, value) {
  const { origin } = new URL(readUrl(name, value));
  // The origin becomes part of the content security policy.
  if (!/^https?:\/\/[A-Za-z0-9.:[\]-]+$/.test(origin)) throw new TypeError(`The host of ${name} is invalid`);
  return origin;
}
