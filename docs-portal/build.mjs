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
import { computeHomePageDay, homePageDaySources } from "./home-page-day.mjs";
import { createReferenceDocument } from "./reference-document.mjs";
import { computeSourceFingerprint } from "./source-fingerprint.mjs";

const portalFolder = dirname(fileURLToPath(import.meta.url));
const openapi = join(portalFolder, "..", "contracts", "openapi.json");
const generatedFolder = join(portalFolder, ".generated");
const docusaurusProgram = createRequire(import.meta.url).resolve("@docusaurus/core/bin/docusaurus.mjs");
const fingerprintFile = join(portalFolder, "build", ".built-from");

const packages = ["package-lock.json", "patches"].map((name) => join(portalFolder, "..", name));
const fingerprint = computeSourceFingerprint(portalFolder, [...homePageDaySources, openapi, ...packages]);
const builtFrom = existsSync(fingerprintFile) ? readFileSync(fingerprintFile, "utf8") : "";
if (argv.includes("--if-stale") && builtFrom === fingerprint) exit(0);

for (const folder of ["build", "api", ".generated"])
  rmSync(join(portalFolder, folder), { recursive: true, force: true });
// The reference's folder must be there before it is written: it is a folder of pages like any other.
for (const folder of ["api", ".generated/static"]) mkdirSync(join(portalFolder, folder), { recursive: true });
copyFileSync(openapi, join(generatedFolder, "static", "openapi.json"));
writeFileSync(join(generatedFolder, "home-page-day.json"), JSON.stringify(computeHomePageDay()));
writeFileSync(join(portalFolder, "api", "openapi.json"), createReferenceDocument(readFileSync(openapi, "utf8")));
await runDocusaurus("gen-api-docs", "all");
await runDocusaurus("build");
writeFileSync(fingerprintFile, fingerprint);

/**
 * @param {string[]} args of Docusaurus
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
  // It reports each of its pages.
  const told = output.split("\n").filter((line) => !line.startsWith("Successfully created"));
  process.stdout.write(told.join("\n"));
  if (code !== 0) exit(1);
}
