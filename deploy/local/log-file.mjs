import { existsSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { endOf } from "./run-command.mjs";

const limitBytes = 2 ** 20;

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
 * The last lines of a log, under a line that says where it is.
 * @param {string} file
 * @param {number} from only what was written past this many bytes
 * @returns {string}
 */
export function endOfLog(file, from) {
  const text = existsSync(file) ? readFileSync(file).subarray(from).toString("utf8").trimEnd() : "";
  return text === "" ? `Its log ${file} is empty.` : `The end of its log ${file}:\n${endOf(text)}`;
}
