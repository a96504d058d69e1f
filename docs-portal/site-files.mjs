import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import { getMimeType, mimes } from "hono/utils/mime";
import { replaceBuiltUrls } from "./installation-urls.mjs";

/**
 * A file as it is sent. `compressed` has the body in each content coding that makes it smaller, the smallest first.
 * @typedef {{
 *   body: Uint8Array<ArrayBuffer>,
 *   compressed: Map<string, Uint8Array<ArrayBuffer>>,
 *   headers: Record<string, string>,
 * }} SiteFile
 */

const contentTypes = { ...mimes, md: "text/markdown; charset=utf-8", tgz: "application/gzip" };
const textPattern = /^(?:text\/|application\/(?:json|xml)|image\/svg)/;
/** A higher quality makes files up to 8 % smaller, and delays the start of the server by half a minute. */
const brotliQuality = 9;
/** The folder of the scripts in built files. */
const scriptFolder = "assets/js/";

/**
 * Reads the built site into memory, with the URLs of the installation. Every response for a file then sends the same
 * bytes, so that requests cost little memory even if their responses are not read.
 * @param {string} folder
 * @param {{ site: string, api: string | undefined }} urls
 * @returns {Map<string, SiteFile>} the files by URL path. A page has two paths: `/docs/webhooks` and `/docs/webhooks/`.
 */
export function loadSiteFiles(folder, urls) {
  // Browsers cache scripts forever. The scripts contain the URLs, so the name of their folder depends on the URLs too.
  const servedScriptFolder = `${scriptFolder}${hash(JSON.stringify(urls)).slice(0, 8)}/`;
  const contents = listFileNames(folder).map((name) => {
    const type = getMimeType(name, contentTypes) ?? "application/octet-stream";
    const built = readFileSync(join(folder, name));
    const body = textPattern.test(type)
      ? Buffer.from(replaceBuiltUrls(String(built), urls).replaceAll(scriptFolder, servedScriptFolder))
      : built;
    return { path: `/${name}`.replace(scriptFolder, servedScriptFolder), type, body };
  });
  const contentSecurityPolicy = buildContentSecurityPolicy(
    contents.filter(({ type }) => type.startsWith("text/html")).map(({ body }) => String(body)),
  );

  /** @type {Map<string, SiteFile>} */
  const files = new Map();
  for (const { path, type, body } of contents) {
    const file = createSiteFile(path, type, body, contentSecurityPolicy);
    files.set(path, file);
    if (path.endsWith("/index.html")) {
      const page = path.slice(0, -"/index.html".length);
      files.set(page, file).set(`${page}/`, file);
    }
  }
  return files;
}

/**
 * @param {string} path
 * @param {string} type
 * @param {Buffer<ArrayBuffer>} body
 * @param {string} contentSecurityPolicy
 * @returns {SiteFile}
 */
function createSiteFile(path, type, body, contentSecurityPolicy) {
  const compressed = textPattern.test(type) ? compress(body) : new Map();
  const headers = {
    "content-type": type,
    "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    etag: `W/"${hash(body).slice(0, 32)}"`,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    ...(type.startsWith("text/html") && { "content-security-policy": contentSecurityPolicy }),
  };
  return { body, compressed, headers };
}

/** @param {Buffer<ArrayBuffer>} body */
function compress(body) {
  const brotli = brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } });
  /** @type {[string, Uint8Array<ArrayBuffer>][]} */
  const codings = [
    ["br", brotli],
    ["gzip", gzipSync(body)],
  ];
  return new Map(codings.filter(([, { byteLength }]) => byteLength < body.byteLength));
}

/**
 * Returns the content security policy of all pages. It allows the scripts of the site and those within the pages, because
 * a page adds the inline scripts of the pages that its reader opens. Requests can go to every server, because readers
 * choose the server to which they send a request.
 * @param {string[]} pages
 */
function buildContentSecurityPolicy(pages) {
  const inlineScriptPattern = /<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g;
  const scripts = new Set(
    pages.flatMap((html) => [...html.matchAll(inlineScriptPattern)].map(([, text = ""]) => text)),
  );
  const hashes = [...scripts].map((text) => ` 'sha256-${createHash("sha256").update(text).digest("base64")}'`);
  return [
    "default-src 'self'",
    `script-src 'self'${hashes.join("")}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self' http: https:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");
}

/**
 * Returns the names of all files relative to the folder, with slashes. Hidden files are omitted.
 * @param {string} folder
 */
function listFileNames(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"));
}

/** @param {string | Uint8Array} content */
function hash(content) {
  return createHash("sha256").update(content).digest("hex");
}
