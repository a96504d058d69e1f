import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { lastLinesOf, runCommand } from "./run-command.mjs";
import { UserFacingError, withProgress } from "./terminal.mjs";

/** The folder of the checkout, absolute, without a slash at its end. */
export const checkoutFolder = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Where the build of the documentation keeps what it has built of packages. */
const buildCacheFolders = ["node_modules/.cache", "docs-portal/node_modules/.cache"];
/** What the packages were installed from; npm removes it with the packages. */
const installRecordFile = "node_modules/.installed-from.json";

/**
 * Installs the packages that package-lock.json lists, with the patches of `patches/`, unless those that are there were
 * installed from the same. Patching is all that runs: `.npmrc` refuses the install scripts of packages.
 * @param {string} [folder] the checkout
 * @throws {UserFacingError} with the end of npm's output
 */
export async function ensurePackagesInstalled(folder = checkoutFolder) {
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const wanted = { lockfile: sha256(lockfile), patches: sha256(readPatches(join(folder, "patches"))) };
  /** @type {Partial<typeof wanted>} */
  const found = existsSync(join(folder, installRecordFile))
    ? JSON.parse(readFileSync(join(folder, installRecordFile), "utf8"))
    : {};
  if (found.lockfile === wanted.lockfile && found.patches === wanted.patches) return;

  const arePatchesNew = found.patches !== undefined && found.patches !== wanted.patches;
  if (arePatchesNew || !isInstalled(JSON.parse(lockfile), join(folder, "node_modules", ".package-lock.json")))
    await withProgress("Installing packages with npm ci", () => runNpm(folder, "ci", "--no-audit", "--no-fund"));
  await runNpm(folder, "run", "patch");
  // What was built of a package of this version is taken for what it is, patched or not.
  if (arePatchesNew)
    for (const cache of buildCacheFolders) rmSync(join(folder, cache), { recursive: true, force: true });
  writeFileSync(join(folder, installRecordFile), JSON.stringify(wanted));
}

/** What vitest calls before tests: a bare `npm ci` leaves packages without their patches. */
export async function setup() {
  if (!existsSync(join(checkoutFolder, installRecordFile))) await ensurePackagesInstalled();
}

/**
 * @param {string} folder
 * @param {string[]} args
 */
async function runNpm(folder, ...args) {
  const { code, output } = await runCommand("npm", args, { cwd: folder });
  if (code === 0) return;
  // npm names the cause first, and ends with advice on how to use it.
  const errorLines = output.split("\n").filter((line) => line.startsWith("npm error"));
  const shown = errorLines.length === 0 ? lastLinesOf(output) : lastLinesOf(errorLines.slice(0, 15).join("\n"));
  throw new UserFacingError(`npm ${args.filter((arg) => !arg.startsWith("-")).join(" ")} failed:\n${shown}`);
}

/** @param {string} text */
const sha256 = (text) => createHash("sha256").update(text).digest("hex");

/** @param {string} folder */
function readPatches(folder) {
  const names = existsSync(folder) ? readdirSync(folder).sort() : [];
  return names.map((name) => `${name}\n${readFileSync(join(folder, name), "utf8")}`).join("\n");
}

/** @typedef {{ packages: Record<string, { version?: string, optional?: boolean, devOptional?: boolean }> }} Lockfile */

/**
 * Whether npm's own record of what it installed agrees with the lockfile: somebody ran `npm install`. Packages for
 * other systems are listed and not installed.
 * @param {Lockfile} lockfile
 * @param {string} recordFile
 */
function isInstalled(lockfile, recordFile) {
  if (!existsSync(recordFile)) return false;
  /** @type {Lockfile} */
  const record = JSON.parse(readFileSync(recordFile, "utf8"));
  return Object.entries(lockfile.packages).every(([path, wanted]) => {
    const installed = record.packages[path];
    if (installed === undefined) return path === "" || wanted.optional === true || wanted.devOptional === true;
    return installed.version === wanted.version;
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) await ensurePackagesInstalled();
