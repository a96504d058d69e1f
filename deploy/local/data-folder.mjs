import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { registerForCleanup, signalProcess, terminateProcess, unregisterFromCleanup } from "./process-cleanup.mjs";

/** A file of a data folder that names the Docker volume which belongs to it. */
export const dockerVolumeFile = "docker-volume";

/** The Docker engine of this machine. Its client takes half a second to load: only where containers are used. */
export async function loadContainerRuntime() {
  // biome-ignore lint/style/noRestrictedImports: packages are installed before servers are started.
  const { getContainerRuntimeClient } = await import("testcontainers");
  return getContainerRuntimeClient();
}

/**
 * Ends what a process has left behind, the last started first: a folder goes after the servers that keep data in it.
 * @param {import("./process-cleanup.mjs").CleanupResource[]} resources
 */
export async function cleanUpResources(resources) {
  for (const each of resources.toReversed()) {
    if (each.kind === "process") {
      await terminateProcess(each.known, each.signal, each.timeoutMs);
      signalProcess(-each.id, "SIGKILL");
    } else if (each.kind === "container") await removeContainer(each.id);
    else await removeDataFolder(each.id);
  }
}

/**
 * Ends a container, if it runs, and removes it, if it is there. The volume of its data stays.
 * @param {string} name
 */
export async function removeContainer(name) {
  const container = (await loadContainerRuntime()).container.getById(name);
  await container.stop({ t: 10 }).catch(() => {});
  await container.remove({ force: true, v: true }).catch(ignoreMissingContainer);
}

/**
 * @param {{ statusCode?: number }} error
 * @returns {undefined}
 */
export function ignoreMissingContainer(error) {
  // 409: its removal is under way.
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}

/**
 * A new folder for servers' throw-away data. It is removed when this process ends, or by `removeDataFolder`.
 * Other users may pass through it (not list it), because PostgreSQL may have to run as another user than this process.
 * @param {string} label part of the folder's name
 */
export function createTemporaryDataFolder(label) {
  const folder = mkdtempSync(join(realpathSync(tmpdir()), `pragma-${label}-`));
  chmodSync(folder, 0o711);
  registerForCleanup({ kind: "folder", id: folder });
  return folder;
}

/**
 * The folder that holds what belongs into this one where another user cannot enter it.
 * @param {string} folder
 */
export function fallbackDataFolder(folder) {
  return `/var/tmp/pragma-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

/**
 * Removes a data folder, or a folder of several, with their Docker volumes. Its servers must have stopped.
 * @param {string} folder
 */
export async function removeDataFolder(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const inside = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  for (const file of [folder, ...inside].map((each) => join(each, dockerVolumeFile)).filter(existsSync)) {
    const name = readFileSync(file, "utf8");
    await removeContainer(name);
    const { dockerode } = (await loadContainerRuntime()).container;
    await dockerode.getVolume(name).remove().catch(ignoreMissingContainer);
  }
  for (const each of [folder, ...inside]) rmSync(fallbackDataFolder(each), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  unregisterFromCleanup(folder);
}
