/**
 * Builds the site into `build/`: the day that the home page draws, the pages of the reference from the OpenAPI document,
 * then everything.
 * `--if-stale` does nothing when the site was built from what is here now.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, execPath, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { drawnDay, sourcesOfDrawnDay } from "./drawn-day.mjs";
import { fingerprintOf } from "./fingerprint.mjs";
import { referenceDocument } from "./reference-document.mjs";

const portal = dirname(fileURLToPath(import.meta.url));
const openapi = join(portal, "..", "contracts", "openapi.json");
const generated = join(portal, ".generated");
const docusaurus = createRequire(import.meta.url).resolve("@docusaurus/core/bin/docusaurus.mjs");
const mark = join(portal, "build", ".built-from");

const packages = ["package-lock.json", "patches"].map((name) => join(portal, "..", name));
const fingerprint = fingerprintOf(portal, [...sourcesOfDrawnDay, openapi, ...packages]);
const builtFrom = existsSync(mark) ? readFileSync(mark, "utf8") : "";
if (argv.includes("--if-stale") && builtFrom === fingerprint) exit(0);

for (const folder of ["build", "api", ".generated"]) rmSync(join(portal, folder), { recursive: true, force: true });
// The reference's folder must be there before it is written: it is a folder of pages like any other.
for (const folder of ["api", ".generated/static"]) mkdirSync(join(portal, folder), { recursive: true });
copyFileSync(openapi, join(generated, "static", "openapi.json"));
writeFileSync(join(generated, "drawn-day.json"), JSON.stringify(drawnDay()));
writeFileSync(join(portal, "api", "openapi.json"), referenceDocument(readFileSync(openapi, "utf8")));
await run("gen-api-docs", "all");
await run("build");
writeFileSync(mark, fingerprint);

/**
 * @param {string[]} args of Docusaurus
 */
async function run(...args) {
  const child = spawn(execPath, [docusaurus, ...args], {
    cwd: portal,
    env: { ...process.env, NODE_ENV: "production" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const lines = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => lines.push(String(chunk)));
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => child.kill(signal));
  const [code] = await once(child, "exit");
  const output = lines.join("");
  // It reports each of its pages.
  const told = output.split("\n").filter((line) => !line.startsWith("Successfully created"));
  process.stdout.write(told.join("\n"));
  if (code !== 0) exit(1);
}
