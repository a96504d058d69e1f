import { spawnSync } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeVolume } from "./docker.mjs";
import { Failure } from "./failure.mjs";
import { guardFolder, releaseFolder } from "./guarded.mjs";
import { keptFile } from "./kept-file.mjs";

/**
 * A new folder for a server's throw-away data. It is removed when this process ends, or by `removeDataFolder`.
 * Other users may pass through it (not list it), because PostgreSQL may have to run as another user than this process.
 * @param {string} label part of the folder's name
 * @returns {string} absolute path
 */
export function temporaryDataFolder(label) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `pragma-${label}-`));
  chmodSync(folder, 0o711);
  guardFolder(folder);
  return folder;
}

/**
 * Removes a data folder, or a folder of several, with what was placed elsewhere on their behalf. Its servers must have
 * stopped.
 * @param {string} folder
 */
export async function removeDataFolder(folder) {
  for (const each of [folder, ...foldersIn(folder)]) {
    const elsewhere = substituteFor(each);
    if (owned(elsewhere)) rmSync(elsewhere, { recursive: true, force: true });
    await removeVolume(each);
  }
  rmSync(folder, { recursive: true, force: true });
  releaseFolder(folder);
}

/**
 * @param {string} folder
 * @returns {string[]}
 */
function foldersIn(folder) {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/**
 * Where an unprivileged user can keep data on behalf of `folder`: in the folder itself when the user can pass through
 * all its parents, else in a folder of /var/tmp that is always the same for this one. Both carry the same mark, so that
 * data outlives neither the removal of `folder` nor its making anew.
 * @param {string} folder must exist
 * @param {{ uid: number, gid: number, name: string }} user
 * @param {(line: string) => void} log
 * @returns {string}
 */
export function folderReachableBy(user, folder, log) {
  chmodSync(folder, (statSync(folder).mode & 0o777) | 0o011);
  if (canEnter(user, folder)) return folder;
  const elsewhere = substituteFor(folder);
  const mark = keptFile(join(folder, "elsewhere"), randomUUID);
  if (existsSync(elsewhere) && !(owned(elsewhere) && markOf(elsewhere) === mark)) {
    if (!owned(elsewhere)) throw new Failure(`${elsewhere} belongs to somebody else. Remove it and start again.`);
    rmSync(elsewhere, { recursive: true });
  }
  mkdirSync(elsewhere, { recursive: true });
  chmodSync(elsewhere, 0o711);
  writeFileSync(join(elsewhere, "mark"), mark, { mode: 0o600 });
  const cluster = join(folder, "cluster");
  // Made when other users could still pass through the folder's parents.
  if (existsSync(cluster)) spawnSync("mv", [cluster, elsewhere]);
  log(`The user ${user.name} cannot reach ${folder}: its data is in ${elsewhere}.`);
  return elsewhere;
}

/**
 * @param {string} folder
 * @returns {string}
 */
function substituteFor(folder) {
  return `/var/tmp/pragma-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

/**
 * @param {string} path
 * @returns {boolean} whether it is a folder, not a link, of this process's user
 */
function owned(path) {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() === true && stat.uid === process.getuid?.();
}

/**
 * @param {string} elsewhere
 * @returns {string | undefined}
 */
function markOf(elsewhere) {
  const file = join(elsewhere, "mark");
  return existsSync(file) ? readFileSync(file, "utf8") : undefined;
}

/**
 * @param {{ uid: number, gid: number }} user
 * @param {string} folder
 * @returns {boolean}
 */
function canEnter({ uid, gid }, folder) {
  return spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", folder], { cwd: "/", uid, gid, stdio: "ignore" }).status === 0;
}
