import { copyFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { endOf } from "./run-command.mjs";

/**
 * Once a log is as large as this, moves what it holds to a file beside it, in place of what was moved before. Whoever
 * writes it must append. Returns the size that is left.
 */
export function rotateLog(file: string, maxBytes: number): number {
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytes) return size;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
  return 0;
}

/** The last lines of a log past this many bytes, under a line that says where it is. */
export function endOfLog(file: string, from: number): string {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const text = bytes.toString("utf8", from <= bytes.length ? from : 0).trimEnd();
  return text === "" ? `Its log ${file} is empty.` : `The end of its log ${file}:\n${endOf(text)}`;
}
