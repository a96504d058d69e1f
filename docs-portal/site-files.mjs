import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { getMimeType, mimes } from "hono/utils/mime";
import { replaceBuiltUrls } from "./installation-urls.mjs";

/**
 * A file as it is sent. `compress` returns the body in a content coding, or undefined if this does not make it smaller.
 * @typedef {{
 *   body: Uint8Array<ArrayBuffer>,
 *   compress: (coding: ContentCoding) => Promise<Uint8Array<ArrayBuffer> | undefined>,
 *   headers: Record<string, string>,
 * }} SiteFile
 */

/** @typedef {"br" | "gzip"} ContentCoding */

const contentTypes = { ...mimes, md: "text/markdown; charset=utf-8", tgz: "application/gzip" };
const textPattern = /^(?:text\/|application\/(?:json|xml)|image\/svg)/;
/** A higher quality makes files up to 8 % smaller, but takes ten times as long. */
const brotliQuality = 9;
const brotliOptions = { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } };
/**
 * The functions that compress a body in a thread, the most effective first.
 * @type {Record<ContentCoding, (body: Uint8Array) => Promise<Buffer>>}
 */
const compressors = { br: (body) => promisify(brotliCompress)(body, brotliOptions), gzip: promisify(gzip) };
/** @type {readonly ContentCoding[]} */
export const contentCodings = ["br", "gzip"];
/** The folder of the scripts in built files. */
const scriptFolder = "assets/js/";

/**
 * Reads the built site into memory, with the URLs of the installation. Every response for a file then sends the same
 * bytes, so that requests cost little memory even if their responses are not read. A file is compressed when it is first
 * requested, because compressing all files would delay the start of the server by several seconds.
 * @param {string} folder
 * @param {import("./installation-urls.mjs").InstallationUrls} urls
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
  const headers = {
    "content-type": type,
    "cache-control": path.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache",
    etag: `W/"${hash(body).slice(0, 32)}"`,
    vary: "accept-encoding",
    "x-content-type-options": "nosniff",
    "referrer-policy": "strict-origin-when-cross-origin",
    ...(type.startsWith("text/html") && { "content-security-policy": contentSecurityPolicy }),
  };
  return { body, compress: textPattern.test(type) ? createCompressor(body) : async () => undefined, headers };
}

/**
 * Returns a function that compresses the body once for each content coding.
 * @param {Buffer<ArrayBuffer>} body
 * @returns {SiteFile["compress"]}
 */
function createCompressor(body) {
  /** @type {Map<ContentCoding, ReturnType<SiteFile["compress"]>>} */
  const results = new Map();
  /** @param {ContentCoding} coding */
  const compress = async (coding) => {
    const compressed = new Uint8Array(await compressors[coding](body));
    return compressed.byteLength < body.byteLength ? compressed : undefined;
  };
  return (coding) => {
    const result = results.get(coding) ?? compress(coding);
    results.set(coding, result);
    return result;
  };
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
