import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import { endOf } from "./run-command.mjs";

const maxBytesAtStart = 2 ** 20;
const maxBytes = 32 * 2 ** 20;
const checkEveryMs = 60_000;

/** Makes a log's folder, and removes a log that earlier runs have made large. Returns where this run's part begins. */
export function beginLog(file: string): number {
  mkdirSync(dirname(file), { recursive: true });
  const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  if (size < maxBytesAtStart) return size;
  rmSync(file);
  return 0;
}

/**
 * Keeps a log that is being written from growing without end: once it is large, what it holds is moved to a file beside
 * it, in place of what was moved before. Whoever writes must append. Returns what ends it.
 */
export function limitLog(file: string, { limit = maxBytes, everyMs = checkEveryMs } = {}): () => void {
  const timer = setInterval(() => {
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) < limit) return;
    copyFileSync(file, `${file}.1`);
    truncateSync(file);
  }, everyMs);
  timer.unref();
  return () => clearInterval(timer);
}

/** The last lines of a log past this many bytes, under a line that says where it is. */
export function endOfLog(file: string, from: number): string {
  const bytes = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const text = bytes.toString("utf8", from <= bytes.length ? from : 0).trimEnd();
  return text === "" ? `Its log ${file} is empty.` : `The end of its log ${file}:\n${endOf(text)}`;
}
