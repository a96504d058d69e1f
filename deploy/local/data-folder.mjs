import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statfsSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  registerForExitCleanup,
  signalProcess,
  terminateProcess,
  unregisterFromExitCleanup,
} from "./process-cleanup.mjs";

/** A file with this name in a data folder contains the name of the folder's Docker volume. */
export const dockerVolumeNameFile = "docker-volume";

const memoryFolder = "/dev/shm";
/** The servers of all tests together use less than half of this. */
const minFreeMemoryBytes = 8 * 1024 ** 3;

/** Returns a client of Docker. Imports the library on demand, because the import takes half a second. */
export async function loadDockerClient() {
  // biome-ignore lint/style/noRestrictedImports: packages are installed before this is called.
  const { getContainerRuntimeClient } = await import("testcontainers");
  return getContainerRuntimeClient();
}

/**
 * Cleans up resources, the last one first, so that servers have stopped before the folder of their data is removed.
 * @param {import("./process-cleanup.mjs").CleanupResource[]} resources
 */
export async function cleanUpAll(resources) {
  for (const each of resources.toReversed()) {
    if (each.kind === "process") {
      await terminateProcess(each.identity, each.signal, each.timeoutMs);
      signalProcess(-each.id, "SIGKILL");
    } else if (each.kind === "container") await removeDockerContainer(each.id);
    else await removeServerDataFolder(each.id);
  }
}

/** Stops and removes a container, if it exists, without its data volume. @param {string} name */
export async function removeDockerContainer(name) {
  const container = (await loadDockerClient()).container.getById(name);
  await container.stop({ t: 10 }).catch(() => {});
  await container.remove({ force: true, v: true }).catch(ignoreMissingContainer);
}

/** @param {{ statusCode?: number }} error @returns {undefined} */
export function ignoreMissingContainer(error) {
  // 404: the container does not exist. 409: the container is being removed.
  if (error.statusCode !== 404 && error.statusCode !== 409) throw error;
}

/**
 * Creates a temporary folder that other users, such as the one who runs PostgreSQL, can enter but not list.
 * @param {string} label part of the folder's name
 */
export function createTemporaryDataFolder(label, parent = tmpdir()) {
  const folder = mkdtempSync(join(realpathSync(parent), `pragma-${label}-`));
  chmodSync(folder, 0o711);
  registerForExitCleanup({ kind: "folder", id: folder });
  return folder;
}

/**
 * Creates a temporary folder for data of tests, in memory if enough is free: on ext4, creating files can take seconds.
 * @param {string} label part of the folder's name
 */
export function createTestServerDataFolder(label) {
  if (!existsSync(memoryFolder)) return createTemporaryDataFolder(label);
  const { bavail, bsize } = statfsSync(memoryFolder);
  const isUsable = Math.min(bavail * bsize, process.availableMemory()) >= minFreeMemoryBytes;
  return createTemporaryDataFolder(label, isUsable ? memoryFolder : tmpdir());
}

/** Returns the folder for a user who cannot enter `folder`, to run PostgreSQL. @param {string} folder */
export function getFallbackDataFolder(folder) {
  return `/var/tmp/pragma-${createHash("sha256").update(folder).digest("hex").slice(0, 16)}`;
}

/** Removes a folder of stopped servers, with their Docker volumes. @param {string} folder */
export async function removeServerDataFolder(folder) {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : [];
  const subfolders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
  for (const file of [folder, ...subfolders].map((each) => join(each, dockerVolumeNameFile)).filter(existsSync)) {
    const name = readFileSync(file, "utf8");
    await removeDockerContainer(name);
    const { dockerode } = (await loadDockerClient()).container;
    await dockerode.getVolume(name).remove().catch(ignoreMissingContainer);
  }
  for (const each of [folder, ...subfolders]) rmSync(getFallbackDataFolder(each), { recursive: true, force: true });
  rmSync(folder, { recursive: true, force: true });
  unregisterFromExitCleanup(folder);
}
