/**
 * Builds the site into the folder `build`. First generates the data of the home page, and the reference pages from the
 * OpenAPI document. With `--if-stale`, does nothing if the sources have not changed since the last build.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, execPath, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { downloadSourcePaths, writeDownloads } from "./downloads/write-downloads.mjs";
import { computeHomePageReportAndSales, homePageDaySourcePaths } from "./home-page-day.mjs";
import { createReferenceOpenApiDocument } from "./reference-document.mjs";
import { computeSiteSourceFingerprint } from "./source-fingerprint.mjs";

const portalFolder = dirname(fileURLToPath(import.meta.url));
const openapi = join(portalFolder, "..", "contracts", "openapi.json");
const generatedFolder = join(portalFolder, ".generated");
const docusaurusProgram = createRequire(import.meta.url).resolve("@docusaurus/core/bin/docusaurus.mjs");
const fingerprintFile = join(portalFolder, "build", ".built-from");

const packages = ["package-lock.json", "patches"].map((name) => join(portalFolder, "..", name));
const fingerprint = computeSiteSourceFingerprint(portalFolder, [
  ...homePageDaySourcePaths,
  ...downloadSourcePaths,
  openapi,
  ...packages,
]);
const builtFrom = existsSync(fingerprintFile) ? readFileSync(fingerprintFile, "utf8") : "";
if (argv.includes("--if-stale") && builtFrom === fingerprint) exit(0);

for (const folder of ["build", "api", ".generated"])
  rmSync(join(portalFolder, folder), { recursive: true, force: true });
// Docusaurus requires the folder of the reference to exist before the plugin generates its pages.
for (const folder of ["api", ".generated/static"]) mkdirSync(join(portalFolder, folder), { recursive: true });
copyFileSync(openapi, join(generatedFolder, "static", "openapi.json"));
writeDownloads(join(generatedFolder, "static", "downloads"), openapi);
writeFileSync(join(generatedFolder, "home-page-day.json"), JSON.stringify(computeHomePageReportAndSales()));
writeFileSync(join(portalFolder, "api", "openapi.json"), createReferenceOpenApiDocument(readFileSync(openapi, "utf8")));
await runDocusaurus("gen-api-docs", "all");
await runDocusaurus("build");
writeFileSync(fingerprintFile, fingerprint);

/**
 * Runs the Docusaurus CLI. Exits this process with code 1 if the CLI fails.
 * @param {string[]} args
 */
async function runDocusaurus(...args) {
  const child = spawn(execPath, [docusaurusProgram, ...args], {
    cwd: portalFolder,
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => lines.push(String(chunk)));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  const output = lines.join("");
  // The reference plugin prints one line per generated page. These lines are omitted, because they would hide errors.
  const shownLines = output.split("\n").filter((line) => !line.startsWith("Successfully created"));
  process.stdout.write(shownLines.join("\n"));
  if (code !== 0) exit(1);
}
