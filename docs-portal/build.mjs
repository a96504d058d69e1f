/**
 * Builds the site into the folder `build`. First generates the data of the home page, and the reference pages from the
 * OpenAPI documents. With `--if-stale`, does nothing if the sources have not changed since the last build.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, execPath, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { computeHomePageReportAndSales, homePageDaySourcePaths } from "./home-page-day.mjs";
import { listOperations, parseReferenceDocument } from "./reference/document.mjs";
import { writeReferencePages } from "./reference/write-pages.mjs";
import { computeSiteSourceFingerprint } from "./source-fingerprint.mjs";

const portalFolder = dirname(fileURLToPath(import.meta.url));
const openapi = join(portalFolder, "..", "contracts", "openapi.json");
const fullOpenapi = join(portalFolder, "..", "contracts", "openapi.full.json");
const generatedFolder = join(portalFolder, ".generated");
const docusaurusProgram = createRequire(import.meta.url).resolve("@docusaurus/core/bin/docusaurus.mjs");
const fingerprintFile = join(portalFolder, "build", ".built-from");

const others = ["CHANGELOG.md", "package-lock.json", "patches"].map((name) => join(portalFolder, "..", name));
const fingerprint = computeSiteSourceFingerprint(portalFolder, [
  ...homePageDaySourcePaths,
  openapi,
  fullOpenapi,
  ...others,
]);
const builtFrom = existsSync(fingerprintFile) ? readFileSync(fingerprintFile, "utf8") : "";
if (argv.includes("--if-stale") && builtFrom === fingerprint) exit(0);

for (const folder of ["build", "api", "operators", ".generated"])
  rmSync(join(portalFolder, folder), { recursive: true, force: true });
mkdirSync(join(generatedFolder, "static"), { recursive: true });
copyFileSync(openapi, join(generatedFolder, "static", "openapi.json"));
copyFileSync(fullOpenapi, join(generatedFolder, "static", "openapi.full.json"));
writeFileSync(join(generatedFolder, "home-page-day.json"), JSON.stringify(computeHomePageReportAndSales()));
writeReferences();
await runDocusaurus("build");
writeFileSync(fingerprintFile, fingerprint);

/** Writes the pages of the partners' reference, and of the reference of the operators' operations. */
function writeReferences() {
  const document = parseReferenceDocument(readFileSync(openapi, "utf8"));
  const operations = listOperations(document);
  const [summary = "", ...conventions] = document.info.description.split("\n\n");
  writeReferencePages(join(portalFolder, "api"), document, operations, {
    title: document.info.title,
    summary,
    notes: { title: "Conventions", text: conventions.join("\n\n") },
    description: "API Reference for Pragma",
    documentPath: "/openapi.json",
    links: [{ type: "link", label: "Operator reference", href: "/operators/" }],
  });
  const partnerOperations = new Set(operations.map(({ operation }) => operation.operationId));
  const fullDocument = parseReferenceDocument(readFileSync(fullOpenapi, "utf8"));
  const operatorOperations = listOperations(fullDocument).filter(
    ({ operation }) => !partnerOperations.has(operation.operationId),
  );
  writeReferencePages(join(portalFolder, "operators"), fullDocument, operatorOperations, {
    title: "Operator reference",
    summary:
      "Operators run an installation of Pragma API. They create locations and consumers, and issue the API keys with which consumers read the data of a location.",
    notes: {
      title: "Access",
      text: "These operations require the scope `locations:write`, `consumers:write`, `keys:write` or `admin`. A new consumer has none of these scopes. The scope `admin` also gives access to every operation of the [API reference](/api/).",
    },
    description: "Operations for operators of Pragma API: locations, consumers and API keys",
    documentPath: "/openapi.full.json",
    links: [{ type: "link", label: "API reference", href: "/api/" }],
  });
}

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
  process.stdout.write(lines.join(""));
  if (code !== 0) exit(1);
}
