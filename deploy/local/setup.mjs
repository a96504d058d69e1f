import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";
import { checkout } from "./state-folder.mjs";

/** Where the build of the documentation keeps what it has built of packages. */
const caches = ["node_modules/.cache", "docs-portal/node_modules/.cache"];

/**
 * Installs the packages that package-lock.json lists, with the patches of `patches/`, unless those that are there were
 * installed from the same.
 * @param {string} [folder] the checkout
 * @throws {Failure} with the end of npm's output
 */
export async function ensurePackages(folder = checkout) {
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const wanted = { lockfile: sha256(lockfile), patches: sha256(patchesIn(join(folder, "patches"))) };
  const memoryFile = join(folder, "node_modules", ".installed-from.json");
  /** @type {typeof wanted | undefined} */
  const remembered = existsSync(memoryFile) ? JSON.parse(readFileSync(memoryFile, "utf8")) : undefined;
  if (remembered?.lockfile === wanted.lockfile && remembered.patches === wanted.patches) return;

  /** @type {Lockfile} */
  const parsed = JSON.parse(lockfile);
  const arePatchesNew = remembered !== undefined && remembered.patches !== wanted.patches;
  if (arePatchesNew || !isInstalled(parsed, join(folder, "node_modules", ".package-lock.json"))) {
    const command = isForEverySystem(parsed) ? ["ci"] : ["install", "--no-save"];
    await withProgress(`Installing packages with npm ${command[0]}`, async () => {
      const { code, output } = await runCommand("npm", [...command, "--no-audit", "--no-fund"], { cwd: folder });
      if (code !== 0) throw new Failure(`npm ${command[0]} failed:\n${complaintIn(output)}`);
    });
  }
  // What was built of a package of this version is taken for what it is, patched or not.
  if (arePatchesNew) for (const cache of caches) rmSync(join(folder, cache), { recursive: true, force: true });
  writeFileSync(memoryFile, JSON.stringify(wanted));
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
 * @property {Record<string, string>} [optionalDependencies]
 */
/** @typedef {{ packages: Record<string, LockedPackage> }} Lockfile */

/**
 * Whether the lockfile lists the optional packages of every system. One that was written where some of them could not be
 * had does not, and then `npm ci` refuses it; `npm install` keeps to it and adds what this system lacks.
 * @param {Lockfile} lockfile
 * @returns {boolean}
 */
function isForEverySystem({ packages }) {
  return Object.entries(packages).every(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).every(
      (name) =>
        packages[`node_modules/${name}`] !== undefined || packages[`${path}/node_modules/${name}`] !== undefined,
    ),
  );
}

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
