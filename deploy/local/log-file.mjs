import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { endOf } from "./run-command.mjs";

const limitBytes = 2 ** 20;
const runningLimitBytes = 32 * 2 ** 20;
const lookEveryMs = 60_000;

/**
 * Makes a log's folder, and removes a log that earlier runs have made large.
 * @param {string} file
 * @returns {number} where this run's part begins, in bytes
 */
export function beginLog(file) {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < limitBytes) return size;
  rmSync(file);
  return 0;
}

/**
 * Keeps a log that is being written from growing without end: once it is large, what it holds is moved to a file beside
 * it, in place of what was moved before. Whoever writes must append.
 * @param {string} file
 * @param {{ limit?: number, every?: number }} [options] bytes and milliseconds
 * @returns {() => void} ends it
 */
export function boundLog(file, { limit = runningLimitBytes, every = lookEveryMs } = {}) {
  const timer = setInterval(() => {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < limit) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }, every);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * The last lines of a log, under a line that says where it is.
 * @param {string} file
 * @param {number} from only what was written past this many bytes
 * @returns {string}
 */
export function endOfLog(file, from) {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const text = bytes
    .subarray(from <= bytes.length ? from : 0)
    .toString("utf8")
    .trimEnd();
  return text === "" ? `Its log ${file} is empty.` : `The end of its log ${file}:\n${endOf(text)}`;
}
