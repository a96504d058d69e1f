/**
 * The guard: a small process that outlives the one that started it, just long enough to end what that one left behind.
 * It reads one JSON line per change from its standard input. The end of the input means that the owner is gone, by
 * whatever cause, SIGKILL included: the guard then ends the guarded processes, the last started first, and removes
 * the temporary folders.
 */
import { createInterface } from "node:readline";
import { removeDataFolder } from "./data-folder.mjs";
import { endContainer } from "./docker.mjs";
import { endProcess, killGroup } from "./process-identity.mjs";

/** @typedef {import("./process-identity.mjs").KnownProcess} KnownProcess */
/** @typedef {{ guard: KnownProcess, signal: NodeJS.Signals, group: boolean } | { release: KnownProcess } | { guardContainer: string } | { releaseContainer: string } | { guardFolder: string } | { releaseFolder: string }} GuardLine */

const graceMs = 10_000;
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

/** @type {Map<number, { known: KnownProcess, signal: NodeJS.Signals, group: boolean }>} */
const processes = new Map();
/** @type {Set<string>} */
const containers = new Set();
/** @type {Set<string>} */
const folders = new Set();

for await (const line of createInterface({ input: process.stdin })) {
  const change = /** @type {GuardLine} */ (JSON.parse(line));
  if ("guard" in change) processes.set(change.guard.pid, { ...change, known: change.guard });
  if ("release" in change) processes.delete(change.release.pid);
  if ("guardContainer" in change) containers.add(change.guardContainer);
  if ("releaseContainer" in change) containers.delete(change.releaseContainer);
  if ("guardFolder" in change) folders.add(change.guardFolder);
  if ("releaseFolder" in change) folders.delete(change.releaseFolder);
}

for (const { known, signal, group } of [...processes.values()].reverse()) {
  await endProcess(known, signal, graceMs);
  if (group) killGroup(known.pid);
}
for (const container of containers) await endContainer(container, graceMs);
for (const folder of folders) await removeDataFolder(folder);
