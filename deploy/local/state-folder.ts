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
import { endAll } from "./data-folder.mjs";
import { type Guarded, isRunning, type KnownProcess, recordGuarded } from "./guarded.mjs";
import { checkout } from "./setup.mjs";
import { Failure } from "./terminal.mjs";

/** Where a checkout keeps everything that `npm start` makes. */
export const stateFolder = join(checkout, ".pragma");

/** Raised when what the folder holds changes so that an older one cannot be used as it is. */
const layout = 3;
const neededBytes = 256 * 2 ** 20;

/**
 * Makes the folder, which is for this user only, or checks that this code can use the one that is there.
 *
 * @throws Failure when it has another layout, is broken, or its disk is nearly full.
 */
export function openStateFolder(folder = stateFolder): void {
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new Failure(`${folder} is not a folder. Remove it.`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const { bavail, bsize } = statfsSync(folder);
  if (bavail * bsize < neededBytes)
    throw new Failure(
      `The disk of ${folder} has ${megabytes(bavail * bsize)} left, and ${megabytes(neededBytes)} are needed.`,
    );

  const versionFile = join(folder, "version");
  if (readdirSync(folder).length === 0) keptFile(versionFile, () => `${layout}\n`);
  const found = existsSync(versionFile) ? readFileSync(versionFile, "utf8").trim() : "none";
  if (found === String(layout)) return;
  const advice = `Remove it to start with fresh demo data (rm -rf ${folder})`;
  if (!/^\d+$/.test(found)) throw new Failure(`${folder} is broken: it does not tell its layout. ${advice}.`);
  const age = Number(found) < layout ? "an older" : "a newer";
  throw new Failure(
    `${folder} was made by ${age} version of this code (layout ${found}, wanted ${layout}). ${advice}, or go back to that version.`,
  );
}

/**
 * Takes the folder for this process, and ends what an ended one has left running on it, where its guard was killed, too.
 *
 * @throws Failure when another process that uses it still runs.
 */
export async function lockStateFolder(folder = stateFolder): Promise<void> {
  const file = join(folder, "running.json");
  const { owner, guarded = [] } = readRecord(file);
  if (owner !== undefined && isRunning(owner))
    throw new Failure(`${folder} is in use: process ${owner.pid} started from it. Stop that one first.`);
  // The number of a process that has ended may be a stranger's by now.
  await endAll(guarded.filter((each) => each.kind !== "process" || isRunning(each.known)));
  recordGuarded(file);
}

/** Empty, too, when a full disk or a power cut cut the record short. */
function readRecord(file: string): { owner?: KnownProcess; guarded?: Guarded[] } {
  try {
    return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : {};
  } catch {
    return {};
  }
}

const megabytes = (bytes: number) => `${Math.floor(bytes / 2 ** 20)} MB`;

/** The text of a file that is made once and kept, readable by its owner only. It appears whole or not at all. */
export function keptFile(file: string, make: () => string): string {
  if (!existsSync(file)) {
    const unfinished = `${file}.unfinished`;
    try {
      writeFileSync(unfinished, make(), { mode: 0o600 });
      renameSync(unfinished, file);
    } finally {
      rmSync(unfinished, { force: true });
    }
  }
  return readFileSync(file, "utf8");
}
