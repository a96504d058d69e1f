import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { argv } from "node:process";
import { fileURLToPath } from "node:url";
import { getIndentedLastLines, runCommand } from "./run-command.mjs";
import { LocalCommandUserError, runTaskWithProgress } from "./terminal.mjs";

/** The absolute path of the repository, without a trailing slash. */
export const repositoryFolder = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The workspaces that `npm start` needs to bundle and run the API, the demo and the console: half of all packages. */
const startWorkspaces = ["services", "simulator", "deploy/local", "console"];

const installRecordFile = "node_modules/.installed-from.json";

/**
 * Installs the packages that the API, the demo and the programs of this folder need, unless they are already installed.
 */
export function ensureStartPackagesInstalled() {
  return ensureNpmPackagesInstalled(repositoryFolder, { workspaces: startWorkspaces });
}

export async function ensureAllPackagesInstalled() {
  await Promise.all([ensureNpmPackagesInstalled(repositoryFolder), ensureDocsPortalPackagesInstalled()]);
}

/**
 * Installs the packages of the documentation site, which have a lockfile of their own, unless they are already installed.
 * @param {{ inBackground?: boolean }} [options] `inBackground` leaves the processors to other programs
 */
export function ensureDocsPortalPackagesInstalled(options) {
  return ensureNpmPackagesInstalled(join(repositoryFolder, "docs-portal"), {
    ...options,
    label: "of the documentation",
  });
}

/**
 * Installs the packages in a folder's package-lock.json, unless they are installed. Install scripts do not run (`.npmrc`).
 * @param {string} folder
 * @param {{ workspaces?: string[], inBackground?: boolean, label?: string }} [options] default: all workspaces
 * @throws {LocalCommandUserError} with the errors in the output of npm
 */
export async function ensureNpmPackagesInstalled(folder, { workspaces, inBackground = false, label = "" } = {}) {
  const lockfile = readFileSync(join(folder, "package-lock.json"), "utf8");
  const hash = createHash("sha256").update(lockfile).digest("hex");
  const recordFile = join(folder, installRecordFile);
  /** @type {{ lockfile?: string, workspaces?: string[] }} */
  const installed = existsSync(recordFile) ? JSON.parse(readFileSync(recordFile, "utf8")) : {};
  const areEnough = installed.workspaces === undefined || String(installed.workspaces) === String(workspaces);
  if (installed.lockfile === hash && areEnough) return;
  if (isInstalled(JSON.parse(lockfile), join(folder, "node_modules", ".package-lock.json"))) workspaces = undefined;
  else {
    const selection = (workspaces ?? []).map((workspace) => `--workspace=${workspace}`);
    await runTaskWithProgress(["Installing packages", label].filter(Boolean).join(" "), () =>
      runNpm(folder, ["ci", "--no-audit", "--no-fund", ...selection], inBackground),
    );
  }
  writeFileSync(recordFile, JSON.stringify({ lockfile: hash, workspaces }));
}

/**
 * @param {string} folder
 * @param {string[]} args
 * @param {boolean} inBackground
 */
async function runNpm(folder, args, inBackground) {
  const [program = "", ...programArgs] = [...(inBackground ? ["nice"] : []), "npm", ...args];
  const { code, output } = await runCommand(program, programArgs, { cwd: folder });
  if (code === 0) return;
  // Only the first error lines are shown, because npm prints the cause first and general advice last.
  const errorLines = output.split("\n").filter((line) => line.startsWith("npm error"));
  const shown =
    errorLines.length === 0 ? getIndentedLastLines(output) : getIndentedLastLines(errorLines.slice(0, 15).join("\n"));
  throw new LocalCommandUserError(`npm ${args.filter((arg) => !arg.startsWith("-")).join(" ")} failed:\n${shown}`);
}

/** @typedef {{ packages: Record<string, { version?: string, optional?: boolean, devOptional?: boolean }> }} Lockfile */

/**
 * Returns whether npm's record matches the lockfile. Optional packages for other systems may be missing.
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

if (argv[1] === fileURLToPath(import.meta.url)) await ensureAllPackagesInstalled();
