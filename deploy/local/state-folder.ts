import {
  chmodSync,
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
import { join } from "node:path";
import { cleanUpProcessesContainersAndFolders } from "./data-folder.mjs";
import {
  type CleanupResource,
  isProcessRunning,
  type ProcessIdentity,
  startPersistingCleanupResources,
} from "./process-cleanup.mjs";
import { repositoryFolder } from "./setup.mjs";
import { LocalCommandUserError } from "./terminal.mjs";

/** The folder in the checkout for all data of `npm start`. */
export const localStateFolder = join(repositoryFolder, ".pragma");

/** Version of the folder's layout. Must be increased when existing folders can no longer be used. */
const layoutVersion = 3;
const minFreeBytes = 256 * 2 ** 20;

/**
 * Creates the folder with access for this user only, or checks that the existing folder can be used.
 *
 * @throws `LocalCommandUserError` if the folder has another layout version or is broken, or if its disk is nearly full.
 */
export function prepareLocalStateFolder(folder = localStateFolder): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new LocalCommandUserError(`${folder} is not a folder. Remove it.`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < minFreeBytes)
    throw new LocalCommandUserError(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, but ${megabytes(minFreeBytes)} are needed.`,
    );

  const versionFile = join(folder, "version");
  if (readdirSync(folder).length === 0) readOrCreateFile(versionFile, () => `${layoutVersion}\n`);
  const version = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : "none";
  if (version === String(layoutVersion)) return;
  const advice = `Remove it to start with fresh demo data (rm -rf ${folder})`;
  if (!/^\d+$/.test(version))
    throw new LocalCommandUserError(`${folder} is broken: it has no layout version. ${advice}.`);
  const age = Number(version) < layoutVersion ? "an older" : "a newer";
  throw new LocalCommandUserError(
    `${folder} was created by ${age} version of this code (layout ${version}, expected ${layoutVersion}). ${advice}, or use that version.`,
  );
}

/**
 * Locks the folder for this process. Cleans up the resources of an earlier process if its cleanup process was killed.
 *
 * @throws `LocalCommandUserError` if another running process uses the folder.
 */
export async function lockStateFolderAndCleanUpProcesses(folder = localStateFolder): Promise<void> {
  const file = join(folder, "running.json");
  const { owner, resources = [] } = readRunningRecord(file);
  if (owner !== undefined && isProcessRunning(owner))
    throw new LocalCommandUserError(`${folder} is in use by process ${owner.pid}. Stop that process first.`);
  // A process is cleaned up only if it is still the same, because its id may now belong to another process.
  await cleanUpProcessesContainersAndFolders(
    resources.filter((each) => each.kind !== "process" || isProcessRunning(each.identity)),
  );
  startPersistingCleanupResources(file);
}

/** Returns the record in a file; an empty record if there is no file, or if a full disk or power cut truncated it. */
function readRunningRecord(file: string): { owner?: ProcessIdentity; resources?: CleanupResource[] } {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB`;

/** Returns the text of a file. If necessary, creates the file atomically, with read access only for its owner. */
export function readOrCreateFile(file: string, createContent: () => string): string {
  if (!existsSync(file)) {
    const unfinished = `${file}.unfinished`;
    try {
      writeFileSync(unfinished, createContent(), { mode: 0o600 });
      renameSync(unfinished, file);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
  return readFileSync(file, "utf8");
}
