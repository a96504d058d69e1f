import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Failure } from "./failure.mjs";
import { keptFile } from "./kept-file.mjs";

/** The folder of the checkout, absolute, without a slash at its end. */
export const checkout = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** Where a checkout keeps everything that `npm start` makes. */
export const stateFolder = join(checkout, ".pragma");

/** Raised when what the folder holds changes so that an older one cannot be used as it is. */
const layout = 2;
const neededBytes = 256 * 2 ** 20;

/**
 * Makes the folder, which is for this user only, or checks that this code can use the one that is there.
 * @param {string} [folder]
 * @throws {Failure} when it has another layout, is broken, or its disk is nearly full
 */
export function openStateFolder(folder = stateFolder) {
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw new Failure(`${folder} is not a folder. Remove it.`);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o700);
  const { bavail, bsize } = statfsSync(folder);
  const freeBytes = bavail * bsize;
  if (freeBytes < neededBytes)
    throw new Failure(
      `The disk of ${folder} has ${megabytes(freeBytes)} left, and ${megabytes(neededBytes)} are needed.`,
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
 * @param {number} bytes
 * @returns {string}
 */
function megabytes(bytes) {
  return `${Math.floor(bytes / 2 ** 20)} MB`;
}
