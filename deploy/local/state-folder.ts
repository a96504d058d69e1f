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
import { cleanUpResources } from "./data-folder.mjs";
import {
  type CleanupResource,
  isProcessRunning,
  type ProcessIdentity,
  persistCleanupList,
} from "./process-cleanup.mjs";
import { repositoryFolder } from "./setup.mjs";
import { UserFacingError } from "./terminal.mjs";

/** The folder in the checkout for all data of `npm start`. */
export const localStateFolder = join(repositoryFolder, ".pragma");

/** Increased when an existing folder cannot be used any more without changes. */
const layoutVersion = 3;
const minFreeBytes = 256 * 2 ** 20;

/**
 * Creates the folder, for this user only, or checks that the existing one can be used.
 *
 * @throws `UserFacingError` when the folder has another layout version or is broken, or its disk is nearly full.
 */
export function prepareLocalStateFolder(folder = localStateFolder): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UserFacingError(`${folder} is not a folder. Remove it.`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < minFreeBytes)
    throw new UserFacingError(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, but ${megabytes(minFreeBytes)} are needed.`,
    );

  const versionFile = join(folder, "version");
  if (readdirSync(folder).length === 0) readOrCreateFile(versionFile, () => `${layoutVersion}\n`);
  const version = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : "none";
  if (version === String(layoutVersion)) return;
  const advice = `Remove it to start with fresh demo data (rm -rf ${folder})`;
  if (!/^\d+$/.test(version)) throw new UserFacingError(`${folder} is broken: it has no layout version. ${advice}.`);
  const age = Number(version) < layoutVersion ? "an older" : "a newer";
  throw new UserFacingError(
    `${folder} was created by ${age} version of this code (layout ${version}, expected ${layoutVersion}). ${advice}, or use that version.`,
  );
}

/**
 * Locks the folder for this process. Cleans up what an earlier process left running if its cleanup process was killed.
 *
 * @throws `UserFacingError` when another running process uses the folder.
 */
export async function lockLocalStateFolder(folder = localStateFolder): Promise<void> {
  const file = join(folder, "running.json");
  const { owner, resources = [] } = readRunningRecord(file);
  if (owner !== undefined && isProcessRunning(owner))
    throw new UserFacingError(`${folder} is in use by process ${owner.pid}. Stop that process first.`);
  // The process id of an ended process may belong to another process now.
  await cleanUpResources(resources.filter((each) => each.kind !== "process" || isProcessRunning(each.identity)));
  persistCleanupList(file);
}

/** Returns an empty record when there is none, or when a full disk or a power cut has truncated it. */
function readRunningRecord(file: string): { owner?: ProcessIdentity; resources?: CleanupResource[] } {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB`;

/** Returns the text of a file, which is created atomically if necessary, readable by its owner only. */
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
