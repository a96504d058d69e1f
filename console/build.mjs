/**
 * Builds the console into the folder `build`, and compresses its files. With `--if-stale`, does nothing if no source has
 * changed since the last build.
 */
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const consoleFolder = dirname(fileURLToPath(import.meta.url));
const buildFolder = join(consoleFolder, "build");
const builtFile = join(buildFolder, ".built");
const sources = [
  "src",
  "public",
  "index.html",
  "vite.config.ts",
  "build.mjs",
  "package.json",
  "../package-lock.json",
  "../client",
  "../contracts/currency.ts",
  "../contracts/openapi.json",
  "../contracts/openapi.full.json",
];
const excludedFolders = new Set(["node_modules", "dist"]);
const compressedPattern = /\.(?:css|html|js|json|svg)$/;

const builtAt = statSync(builtFile, { throwIfNoEntry: false })?.mtimeMs ?? 0;
if (argv.includes("--if-stale") && sources.every((path) => getChangeTime(join(consoleFolder, path)) < builtAt)) exit(0);

// Imported here, because a start with a current build does not need it.
const { build } = await import("vite");
await build({ root: consoleFolder, logLevel: "warn" });
for (const name of readdirSync(buildFolder, { recursive: true })
  .map(String)
  .filter((name) => compressedPattern.test(name))) {
  const file = join(buildFolder, name);
  const content = readFileSync(file);
  writeFileSync(
    `${file}.br`,
    brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: content.length } }),
  );
  writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
}
writeFileSync(builtFile, "");

/**
 * Returns when the file, or the last changed file of the folder, was changed.
 * @param {string} path
 * @returns {number}
 */
function getChangeTime(path) {
  const { mtimeMs, isDirectory } = describe(path);
  if (!isDirectory) return mtimeMs;
  const names = readdirSync(path).filter((name) => !excludedFolders.has(name));
  return Math.max(mtimeMs, ...names.map((name) => getChangeTime(join(path, name))));
}

/** @param {string} path */
function describe(path) {
  const stats = statSync(path);
  return { mtimeMs: stats.mtimeMs, isDirectory: stats.isDirectory() };
}
