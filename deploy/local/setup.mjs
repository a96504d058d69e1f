import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { getIndentedLastLines, runCommand } from "./run-command.mjs";
import { LocalCommandUserError, runTaskWithProgress } from "./terminal.mjs";

/** The absolute path of the repository, without a trailing slash. */
export const repositoryFolder = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Folders in which the documentation build caches compiled packages. */
const buildCacheFolders = ["node_modules/.cache", "docs-portal/node_modules/.cache"];
/** The file that records which lockfile and patches were installed. npm removes the file together with the packages. */
const installRecordFile = "node_modules/.installed-from.json";

/**
 * Installs the packages in package-lock.json and applies the patches in `patches/`, unless both are already installed.
 * Install scripts of packages do not run, because `.npmrc` disables them.
 * @param {string} [folder] the checkout
 * @throws {LocalCommandUserError} with the errors in the output of npm
 */
export async function ensureNpmPackagesInstalled(folder = repositoryFolder) {
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const expected = { lockfile: sha256(lockfile), patches: sha256(readPatches(join(folder, "patches"))) };
  /** @type {Partial<typeof expected>} */
  const installed = existsSync(join(folder, installRecordFile))
    ? JSON.parse(readFileSync(join(folder, installRecordFile), "utf8"))
    : {};
  if (installed.lockfile === expected.lockfile && installed.patches === expected.patches) return;

  const arePatchesNew = installed.patches !== undefined && installed.patches !== expected.patches;
  if (arePatchesNew || !isInstalled(JSON.parse(lockfile), join(folder, "node_modules", ".package-lock.json")))
    await runTaskWithProgress("Installing packages with npm ci", () => runNpm(folder, "ci", "--no-audit", "--no-fund"));
  await runNpm(folder, "run", "patch");
  // A new patch makes the caches outdated, because their keys are package versions, which a patch does not change.
  if (arePatchesNew)
    for (const cache of buildCacheFolders) rmSync(join(folder, cache), { recursive: true, force: true });
  writeFileSync(join(folder, installRecordFile), JSON.stringify(expected));
}

/**
 * Installs packages and patches, unless this was done before. vitest calls this function before the tests, because a
 * plain `npm ci` does not apply patches.
 */
export async function setup() {
  if (!existsSync(join(repositoryFolder, installRecordFile))) await ensureNpmPackagesInstalled();
}

/**
 * @param {string} folder
 * @param {string[]} args
 */
async function runNpm(folder, ...args) {
  const { code, output } = await runCommand("npm", args, { cwd: folder });
  if (code === 0) return;
  // Only the first error lines are shown, because npm prints the cause first and general advice last.
  const errorLines = output.split("\n").filter((line) => line.startsWith("npm error"));
  const shown =
    errorLines.length === 0 ? getIndentedLastLines(output) : getIndentedLastLines(errorLines.slice(0, 15).join("\n"));
  throw new LocalCommandUserError(`npm ${args.filter((arg) => !arg.startsWith("-")).join(" ")} failed:\n${shown}`);
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
 * Returns whether npm's record of installed packages matches the lockfile, as it does after a manual `npm install`.
 * Optional packages for other systems may be missing.
 * @param {Lockfile} lockfile
 * @param {string} recordFile
 */
function isInstalled(lockfile, recordFile) {
  if (!existsSync(recordFile)) return false;
  /** @type {Lockfile} */
  const record = JSON.parse(readFileSync(recordFile, "utf8"));
  return Object.entries(lockfile.packages).every(([path, locked]) => {
    const installed = record.packages[path];
    if (installed === undefined) return path === "" || locked.optional === true || locked.devOptional === true;
    // The packages of the repository are links, so a release of new versions changes nothing in node_modules.
    return installed.version === locked.version || !path.includes("node_modules/");
  });
}

if (argv[1] === fileURLToPath(import.meta.url)) await ensureNpmPackagesInstalled();
