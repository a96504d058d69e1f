import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "./failure.mjs";
import { endProcess, isRunning } from "./process-identity.mjs";

/** @typedef {import("./process-identity.mjs").KnownProcess} KnownProcess */
/**
 * Which process serves a folder, and which one started it.
 * @typedef {{ server: KnownProcess, stopSignal: NodeJS.Signals, owner: KnownProcess }} ServerRecord
 */

/**
 * @param {string} folder
 * @param {ServerRecord} record
 */
export function writeRecord(folder, record) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(recordFile(folder), JSON.stringify(record), { mode: 0o600 });
}

/**
 * @param {string} folder
 */
export function removeRecord(folder) {
  rmSync(recordFile(folder), { force: true });
}

/**
 * Ends the server of this folder that an ended process left behind.
 * @param {{ name: string, folder: string, log: (line: string) => void, stopWithinMs: number }} server
 * @throws {Failure} when the process that started it still runs: then it is in use
 */
export async function endLeftOver({ name, folder, log, stopWithinMs }) {
  const record = readRecord(folder);
  if (record !== undefined && isRunning(record.server)) {
    if (isRunning(record.owner))
      throw new Failure(
        `${name} already runs on ${folder}, started by process ${record.owner.pid}. Stop that one first.`,
      );
    log(`Stopping the ${name} that an earlier run left behind.`);
    await endProcess(record.server, record.stopSignal, stopWithinMs);
  }
  removeRecord(folder);
}

/**
 * @param {string} folder
 * @returns {ServerRecord | undefined} undefined too when a full disk or a power cut cut the record short
 */
function readRecord(folder) {
  if (!existsSync(recordFile(folder))) return undefined;
  try {
    return JSON.parse(readFileSync(recordFile(folder), "utf8"));
  } catch {
    return undefined;
  }
}

/**
 * @param {string} folder
 * @returns {string}
 */
function recordFile(folder) {
  return join(folder, "server.json");
}
