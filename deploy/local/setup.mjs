import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { withProgress } from "./progress.mjs";
import { endOf, runCommand } from "./run-command.mjs";
import { checkout } from "./state-folder.mjs";

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

  const arePatchesNew = remembered !== undefined && remembered.patches !== wanted.patches;
  if (arePatchesNew || !isInstalled(JSON.parse(lockfile), join(folder, "node_modules", ".package-lock.json"))) {
    await withProgress("Installing packages with npm ci", async () => {
      const { code, output } = await runCommand("npm", ["ci", "--no-audit", "--no-fund"], { cwd: folder });
      if (code !== 0) throw new Failure(`npm ci failed:\n${endOf(output, 25)}`);
    });
  }
  writeFileSync(memoryFile, JSON.stringify(wanted));
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

/** @typedef {{ packages: Record<string, { version?: string, optional?: boolean, devOptional?: boolean }> }} Lockfile */

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
