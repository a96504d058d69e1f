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
import { checkoutFolder } from "./setup.mjs";
import { UserFacingError } from "./terminal.mjs";

/** Where a checkout keeps everything that `npm start` makes. */
export const localStateFolder = join(checkoutFolder, ".pragma");

/** Raised when what the folder holds changes so that an older one cannot be used as it is. */
const layoutVersion = 3;
const minFreeBytes = 256 * 2 ** 20;

/**
 * Makes the folder, which is for this user only, or checks that this code can use the one that is there.
 *
 * @throws Failure when it has another layout, is broken, or its disk is nearly full.
 */
export function prepareLocalStateFolder(folder = localStateFolder): void {
  if (existsSync(folder) && !statSync(folder).isDirectory())
    throw new UserFacingError(`${folder} is not a folder. Remove it.`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < minFreeBytes)
    throw new UserFacingError(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, and ${megabytes(minFreeBytes)} are needed.`,
    );

  const versionFile = join(folder, "version");
  if (readdirSync(folder).length === 0) readOrCreateFile(versionFile, () => `${layoutVersion}\n`);
  const found = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : "none";
  if (found === String(layoutVersion)) return;
  const advice = `Remove it to start with fresh demo data (rm -rf ${folder})`;
  if (!/^\d+$/.test(found)) throw new UserFacingError(`${folder} is broken: it does not tell its layout. ${advice}.`);
  const age = Number(found) < layoutVersion ? "an older" : "a newer";
  throw new UserFacingError(
    `${folder} was made by ${age} version of this code (layout ${found}, wanted ${layoutVersion}). ${advice}, or go back to that version.`,
  );
}

/**
 * Takes the folder for this process, and ends what an ended one has left running on it, where its guard was killed, too.
 *
 * @throws Failure when another process that uses it still runs.
 */
export async function lockLocalStateFolder(folder = localStateFolder): Promise<void> {
  const file = join(folder, "running.json");
  const { owner, guarded = [] } = readRunningRecord(file);
  if (owner !== undefined && isProcessRunning(owner))
    throw new UserFacingError(`${folder} is in use: process ${owner.pid} started from it. Stop that one first.`);
  // The number of a process that has ended may be a stranger's by now.
  await cleanUpResources(guarded.filter((each) => each.kind !== "process" || isProcessRunning(each.known)));
  persistCleanupList(file);
}

/** Empty, too, when a full disk or a power cut cut the record short. */
function readRunningRecord(file: string): { owner?: ProcessIdentity; guarded?: CleanupResource[] } {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB`;

/** The text of a file that is made once and kept, readable by its owner only. It appears whole or not at all. */
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
