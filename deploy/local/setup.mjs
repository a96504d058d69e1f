import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { Failure } from "./failure.mjs";
import { withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";
import { checkout } from "./state-folder.mjs";

/** Where the build of the documentation keeps what it has built of packages. */
const caches = ["node_modules/.cache", "docs-portal/node_modules/.cache"];

/**
 * Installs the packages that package-lock.json lists, with the patches of `patches/`, unless those that are there were
 * installed from the same. Patching is all that runs: `.npmrc` refuses the install scripts of packages.
 * @param {string} [folder] the checkout
 * @throws {Failure} with the end of npm's output
 */
export async function ensurePackages(folder = checkout) {
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const wanted = { lockfile: sha256(lockfile), patches: sha256(patchesIn(join(folder, "patches"))) };
  const memoryFile = memoryFileIn(folder);
  /** @type {typeof wanted | undefined} */
  const remembered = existsSync(memoryFile) ? JSON.parse(readFileSync(memoryFile, "utf8")) : undefined;
  if (remembered?.lockfile === wanted.lockfile && remembered.patches === wanted.patches) return;

  const arePatchesNew = remembered !== undefined && remembered.patches !== wanted.patches;
  if (arePatchesNew || !isInstalled(JSON.parse(lockfile), join(folder, "node_modules", ".package-lock.json")))
    await withProgress("Installing packages with npm ci", () => npm(folder, "ci", "--no-audit", "--no-fund"));
  await npm(folder, "run", "patch");
  // What was built of a package of this version is taken for what it is, patched or not.
  if (arePatchesNew) for (const cache of caches) rmSync(join(folder, cache), { recursive: true, force: true });
  writeFileSync(memoryFile, JSON.stringify(wanted));
}

/** What vitest calls before tests: a bare `npm ci` leaves packages without their patches. */
export async function setup() {
  if (!existsSync(memoryFileIn(checkout))) await ensurePackages();
}

/**
 * @param {string} folder
 * @returns {string} the file that tells what its packages were installed from; npm removes it with the packages
 */
function memoryFileIn(folder) {
  return join(folder, "node_modules", ".installed-from.json");
}

/**
 * @param {string} folder
 * @param {string[]} args
 */
async function npm(folder, ...args) {
  const { code, output } = await runCommand("npm", args, { cwd: folder });
  if (code !== 0)
    throw new Failure(`npm ${args.filter((arg) => !arg.startsWith("-")).join(" ")} failed:\n${complaintIn(output)}`);
}

/**
 * @param {string} output npm names the cause first, and ends with advice on how to use it
 * @returns {string}
 */
function complaintIn(output) {
  const lines = output.split("\n").filter((line) => line.startsWith("npm error"));
  return lines.length === 0
    ? endOf(output)
    : lines
        .slice(0, 15)
        .map((line) => `  ${line}`)
        .join("\n");
}

/**
 * @param {string} text
 * @returns {string}
 */
function sha256(text) {
  return createHash("sha256").update(text).digest("hex");
}

/**
 * @param {string} folder
 * @returns {string} what its files say; empty when there is no such folder
 */
function patchesIn(folder) {
  if (!existsSync(folder)) return "";
  const names = readdirSync(folder).sort();
  return names.map((name) => `${name}\n${readFileSync(join(folder, name), "utf8")}`).join("\n");
}

/**
 * @typedef {object} LockedPackage
 * @property {string} [version]
 * @property {boolean} [optional]
 * @property {boolean} [devOptional]
 */
/** @typedef {{ packages: Record<string, LockedPackage> }} Lockfile */

/**
 * Whether npm's own record of what it installed agrees with the lockfile: somebody ran `npm install`. Packages for
 * other systems are listed and not installed.
 * @param {Lockfile} lockfile
 * @param {string} recordFile
 * @returns {boolean}
 */
function isInstalled(lockfile, recordFile) {
  if (!existsSync(recordFile)) return false;
  /** @type {Lockfile} */
  const record = JSON.parse(readFileSync(recordFile, "utf8"));
  return Object.entries(lockfile.packages).every(([path, wanted]) => {
    if (path === "") return true;
    const installed = record.packages[path];
    if (installed === undefined) return wanted.optional === true || wanted.devOptional === true;
    return installed.version === wanted.version;
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) await ensurePackages();
