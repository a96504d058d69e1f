/**
 * Builds the site into the folder `build`. First generates the data of the home page, and the reference pages from the
 * OpenAPI and AsyncAPI documents. With `--if-stale`, does nothing if the sources have not changed since the last build.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { argv, execPath, exit } from "node:process";
import { fileURLToPath } from "node:url";
import { renderChangelogFeed } from "./changelog/feed.mjs";
import { changelogAudiences, readChangelogReleases, renderChangelog } from "./changelog/releases.mjs";
import { downloadSourcePaths, writeDownloads } from "./downloads/write-downloads.mjs";
import { computeHomePageReportAndSales, homePageDaySourcePaths } from "./home-page-day.mjs";
import { createReferenceDocument, listOperations } from "./reference/document.mjs";
import { createMessagesPageMdx } from "./reference/messages-page.mjs";
import { computeSiteSourceFingerprint } from "./source-fingerprint.mjs";

const portalFolder = dirname(fileURLToPath(import.meta.url));
const openapi = join(portalFolder, "..", "contracts", "openapi.json");
const fullOpenapi = join(portalFolder, "..", "contracts", "openapi.full.json");
const asyncapi = join(portalFolder, "..", "contracts", "asyncapi.json");
const generatedFolder = join(portalFolder, ".generated");
const docusaurusProgram = createRequire(import.meta.url).resolve("@docusaurus/core/bin/docusaurus.mjs");
const fingerprintFile = join(portalFolder, "build", ".built-from");

const changelog = join(portalFolder, "..", "CHANGELOG.md");
const fingerprint = computeSiteSourceFingerprint(portalFolder, [
  ...homePageDaySourcePaths,
  ...downloadSourcePaths,
  openapi,
  fullOpenapi,
  asyncapi,
  changelog,
]);
const builtFrom = existsSync(fingerprintFile) ? readFileSync(fingerprintFile, "utf8") : "";
if (argv.includes("--if-stale") && builtFrom === fingerprint) exit(0);

for (const folder of ["build", "api", "operators", ".generated"])
  rmSync(join(portalFolder, folder), { recursive: true, force: true });
// Docusaurus requires the folders of the references to exist before the plugin generates their pages.
for (const folder of ["api", "operators", ".generated/static", ".generated/reference", ".generated/changelog"])
  mkdirSync(join(portalFolder, folder), { recursive: true });
copyFileSync(openapi, join(generatedFolder, "static", "openapi.json"));
copyFileSync(asyncapi, join(generatedFolder, "static", "asyncapi.json"));
writeDownloads(join(generatedFolder, "static", "downloads"), openapi);
writeFileSync(join(generatedFolder, "home-page-day.json"), JSON.stringify(computeHomePageReportAndSales()));
writeChangelogs();
writeReferenceDocuments();
await runDocusaurus("gen-api-docs", "all");
writeFileSync(
  join(portalFolder, "api", "webhook-messages.mdx"),
  createMessagesPageMdx(JSON.parse(readFileSync(asyncapi, "utf8"))),
);
await runDocusaurus("build");
writeFileSync(fingerprintFile, fingerprint);

/** Writes the content of the page and the feed of the changelog for each audience. */
function writeChangelogs() {
  const releases = readChangelogReleases(readFileSync(changelog, "utf8"));
  for (const audience of changelogAudiences) {
    const feedName = audience === "partners" ? "changelog.xml" : `changelog-${audience}.xml`;
    writeFileSync(join(generatedFolder, "changelog", `${audience}.md`), renderChangelog(releases, audience));
    writeFileSync(join(generatedFolder, "static", feedName), renderChangelogFeed(releases, audience));
  }
}

/** Writes the documents of the partners' reference, and of the reference of the operations that only operators use. */
function writeReferenceDocuments() {
  const document = JSON.parse(readFileSync(openapi, "utf8"));
  const fullDocument = JSON.parse(readFileSync(fullOpenapi, "utf8"));
  const partnerOperations = new Set(listOperations(document).map(({ operationId }) => operationId));
  const [summary, ...conventions] = document.info.description.split("\n\n");
  const references = {
    api: createReferenceDocument(document, {
      title: document.info.title,
      summary: "API Reference for Pragma",
      description: [summary, "## Conventions", ...conventions].join("\n\n"),
    }),
    operators: createReferenceDocument(
      fullDocument,
      {
        title: "Operator reference",
        summary: "Operations for operators of Pragma API: locations, consumers, API keys and the audit log",
        description: `Operators run an installation of Pragma API. They create locations and consumers, and issue the API keys with which consumers read the data of a location. The guide [Run an installation](/docs/operators) shows their most important tasks.

## Access

These operations require the scope \`locations:write\`, \`consumers:write\`, \`keys:write\`, \`audit:read\` or \`admin\`. A new consumer has none of these scopes. The scope \`admin\` also gives access to every operation of the [API reference](/api/).`,
      },
      ({ operationId }) => !partnerOperations.has(operationId),
    ),
  };
  for (const [name, reference] of Object.entries(references))
    writeFileSync(join(generatedFolder, "reference", `${name}.json`), JSON.stringify(reference));
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
  const output = lines.join("");
  // The reference plugin prints one line per generated page. These lines are omitted, because they would hide errors.
  const shownLines = output.split("\n").filter((line) => !line.startsWith("Successfully created"));
  process.stdout.write(shownLines.join("\n"));
  if (code !== 0) exit(1);
}
