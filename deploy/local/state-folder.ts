import { spawnSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { cleanUpAll } from "./data-folder.mjs";
import {
  type CleanupResource,
  hasProcessEndedWithin,
  isProcessRunning,
  type ProcessIdentity,
  startPersistingCleanupResources,
} from "./process-cleanup.mjs";
import { repositoryFolder } from "./setup.mjs";
import { LocalCommandUserError } from "./terminal.mjs";

/** The folder for all data of `npm start`: PRAGMA_HOME, or `.pragma` in the checkout. */
export const localStateFolder = resolve(process.env.PRAGMA_HOME || join(repositoryFolder, ".pragma"));

/** Version of the folder's layout. Must be increased when existing folders can no longer be used. */
const layoutVersion = 5;
const minFreeBytes = 256 * 2 ** 20;

/** Milliseconds to wait for the end of an earlier start that was killed a moment ago, and of its cleanup process. */
const maxWaitMs = { owner: 2_000, cleanupProcess: 40_000 };

/** Creates the folder for this user only. @throws `LocalCommandUserError` if the folder cannot be used. */
export function prepareLocalStateFolder(folder = localStateFolder): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new LocalCommandUserError(`${folder} is not a folder. Remove it.`);
  createWritableFolder(folder);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < minFreeBytes)
    throw new LocalCommandUserError(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, but ${megabytes(minFreeBytes)} are needed.`,
    );

  const versionFile = join(folder, "version");
  if (readdirSync(folder).length === 0) readOrCreateFile(versionFile, () => `${layoutVersion}\n`);
  const version = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : "none";
  if (version === String(layoutVersion)) {
    chmodSync(folder, 0o700);
    return;
  }
  // PRAGMA_HOME can be a folder with other files of the user.
  if (version === "none" && process.env.PRAGMA_HOME)
    throw new LocalCommandUserError(
      `${folder} contains files, but no data of this program. Set PRAGMA_HOME to a new folder, or to one that this program created.`,
    );
  const advice = `Remove it to start with fresh demo data (rm -rf ${folder})`;
  if (!/^\d+$/.test(version))
    throw new LocalCommandUserError(`${folder} is broken: it has no layout version. ${advice}.`);
  const age = Number(version) < layoutVersion ? "an older" : "a newer";
  throw new LocalCommandUserError(
    `${folder} was created by ${age} version of this code (layout ${version}, expected ${layoutVersion}). ${advice}, or use that version.`,
  );
}

function createWritableFolder(folder: string): void {
  const advice = "set PRAGMA_HOME to a folder of your own";
  try {
    let existing = folder;
    while (!existsSync(existing)) existing = dirname(existing);
    // Checked first, because a recursive mkdir on a read-only file system fails with ENOENT.
    if (existing !== folder) accessSync(existing, constants.W_OK | constants.X_OK);
    mkdirSync(folder, { recursive: true });
    const { uid } = statSync(folder);
    const user = process.getuid?.() ?? uid;
    if (uid !== user && user !== 0)
      throw new LocalCommandUserError(
        `${folder} belongs to ${describeUser(uid)}. Run this program as that user, or ${advice}.`,
      );
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EROFS")
      throw new LocalCommandUserError(
        `${folder} is on a read-only file system. To store the data elsewhere, ${advice}.`,
      );
    if (code === "EACCES" || code === "EPERM")
      throw new LocalCommandUserError(
        `You are not allowed to write to ${folder}. Change its permissions or those of its parent, or ${advice}.`,
      );
    throw error;
  }
}

function describeUser(uid: number): string {
  const { stdout, status } = spawnSync("id", ["-nu", String(uid)], { encoding: "utf8" });
  return `the user ${status === 0 ? stdout.trim() : uid}`;
}

/**
 * Locks the folder for this process, after the cleanup of a process that was killed.
 *
 * @throws `LocalCommandUserError` if another running process uses the folder.
 */
export async function lockStateFolder(folder = localStateFolder): Promise<void> {
  const file = join(folder, "running.json");
  const { owner, cleanupProcess, resources = [] } = readRunningRecord(file);
  // A process that has just been killed takes a moment to end.
  if (owner && !(await hasProcessEndedWithin(owner, maxWaitMs.owner)))
    throw new LocalCommandUserError(`${folder} is in use by process ${owner.pid}. Stop that process first.`);
  if (cleanupProcess) await hasProcessEndedWithin(cleanupProcess, maxWaitMs.cleanupProcess);
  // A process is cleaned up only if it is still the same, because its id may now belong to another process.
  await cleanUpAll(resources.filter((each) => each.kind !== "process" || isProcessRunning(each.identity)));
  startPersistingCleanupResources(file);
}

interface RunningRecord {
  owner?: ProcessIdentity;
  cleanupProcess?: ProcessIdentity;
  resources?: CleanupResource[];
}

/** Returns the record in a file; an empty record if there is no file, or if a full disk or power cut truncated it. */
function readRunningRecord(file: string): RunningRecord {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB`;

/** Returns the text of a file, which is created atomically if necessary, only for its owner. */
export function readOrCreateFile(file: string, createContent: () => string): string {
  if (!existsSync(file)) writeFileAtomically(file, createContent());
  return readFileSync(file, "utf8");
}

function writeFileAtomically(file: string, content: string): void {
  const unfinished = `${file}.unfinished`;
  try {
    writeFileSync(unfinished, content, { mode: 0o600 });
    renameSync(unfinished, file);
  } finally {
    rmSync(unfinished, { force: true });
  }
}
