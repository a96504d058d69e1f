/**
 * `npm run release -- <version>`: prepares a release. Writes the version to all packages, to the documents that name
 * the version, and to CHANGELOG.md, whose section "Unreleased" gets the version and the date. CONTRIBUTING.md describes
 * the other steps.
 *
 * `npm run release -- --record`: adds the version and its commit, which must be checked out, to `released-versions.json`.
 * The upgrade test starts the last version in this list.
 */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const checkout = fileURLToPath(new URL("..", import.meta.url));
const [version = ""] = process.argv.slice(2);
const { version: previous, workspaces } = readJson("package.json");
if (version === "--record") {
  recordRelease();
  process.exit();
}
if (!/^\d+\.\d+\.\d+$/.test(version) || version.localeCompare(previous, "en", { numeric: true }) <= 0) {
  process.stderr.write(`Give a version after ${previous}, such as: npm run release -- ${suggestVersion()}\n`);
  process.exit(1);
}

const changelog = readText("CHANGELOG.md");
if (!/^## Unreleased$/m.test(changelog)) {
  process.stderr.write("CHANGELOG.md has no section `## Unreleased`, so there is nothing to release.\n");
  process.exit(1);
}
const date = new Date().toISOString().slice(0, 10);
writeFileSync(join(checkout, "CHANGELOG.md"), changelog.replace(/^## Unreleased$/m, `## ${version} (${date})`));

// Packages of others keep their versions.
const ownWorkspaces = /** @type {string[]} */ (workspaces).filter((folder) => !folder.startsWith("vendor/"));
for (const [checkoutFolder, folders] of [
  ["", ["", ...ownWorkspaces]],
  ["docs-portal", [""]],
]) {
  const lockfilePath = join(checkoutFolder, "package-lock.json");
  const lockfile = readJson(lockfilePath);
  lockfile.version = version;
  for (const folder of folders) {
    const path = join(checkoutFolder, folder, "package.json");
    writeJson(path, withVersion(readJson(path)));
    lockfile.packages[folder] = withVersion(lockfile.packages[folder]);
  }
  writeJson(lockfilePath, lockfile);
}

/** Files that name the version in file names and image tags. */
const documents = [
  ...["client/README.md", "docs-portal/docs/client.mdx", "docs-portal/docs/versioning.mdx"],
  "deploy/kubernetes/README.md",
];
for (const path of documents)
  writeFileSync(
    join(checkout, path),
    readText(path).replaceAll(new RegExp(`\\b${escapeDots(previous)}\\b`, "g"), version),
  );

// The version of the Helm chart and of the images. The versions of its dependencies follow other releases.
const chart = "deploy/kubernetes/pragma/Chart.yaml";
writeFileSync(
  join(checkout, chart),
  readText(chart)
    .replace(/^version: .*$/m, `version: ${version}`)
    .replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
);

process.stdout.write(
  [
    `Prepared version ${version}. Next:`,
    "  npm run openapi && npm run examples && npm test && npm run test:soak",
    `  git commit --all --message "Release ${version}"`,
    `  git tag --annotate v${version} --message "Version ${version}"`,
    `  npm run release -- --record && git commit --all --message "Record the release of version ${version}"`,
    "  git push --follow-tags",
    "",
  ].join("\n"),
);

function recordRelease() {
  const path = "deploy/released-versions.json";
  const commit = execFileSync("git", ["rev-parse", "HEAD"], { cwd: checkout, encoding: "utf8" }).trim();
  writeJson(path, [...readJson(path), { version: previous, commit }]);
}

/** Returns a manifest with the new version, also of the packages of this repository on which it depends. */
function withVersion(/** @type {Record<string, any>} */ manifest) {
  const result = { ...manifest, version };
  for (const kind of ["dependencies", "devDependencies", "peerDependencies"]) {
    const dependencies = Object.entries(manifest[kind] ?? {});
    if (dependencies.length === 0) continue;
    result[kind] = Object.fromEntries(
      dependencies.map(([name, range]) => [name, name.startsWith("@pragma/") ? version : range]),
    );
  }
  return result;
}

function suggestVersion() {
  const [major = 0, minor = 0] = previous.split(".").map(Number);
  return `${major}.${minor + 1}.0`;
}

function escapeDots(/** @type {string} */ text) {
  return text.replaceAll(".", "\\.");
}

function readText(/** @type {string} */ path) {
  return readFileSync(join(checkout, path), "utf8");
}

/** @returns {any} */
function readJson(/** @type {string} */ path) {
  return JSON.parse(readText(path));
}

function writeJson(/** @type {string} */ path, /** @type {unknown} */ value) {
  writeFileSync(join(checkout, path), `${JSON.stringify(value, null, 2)}\n`);
}
