import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, rmdir, stat, unlink, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { LRUCache } from "lru-cache";
import {
  assertObjectStoreKey,
  getSystemOrS3ErrorCode,
  ignoreObjectNotFound,
  ObjectNotFoundError,
  type ObjectStore,
  ObjectStoreUnavailableError,
  toWebStream,
} from "./store-interface.ts";

/** The folder for objects that are being written. No key can have this name, because keys must not contain `~`. */
const temporaryFolderName = "~incoming";
const leftoverAgeMs = 3_600_000;
/** Limits the cache of flushed folders to about 25 MB. An evicted folder is flushed again, which is harmless. */
const maxRememberedFolders = 100_000;
/** Deletions can remove a new folder again before it has an object. */
const maxPutAttempts = 10;

/** For keys that are too long, or that conflict with another key (`a` and `a/b`). A retry would fail again. */
const callerErrorCodes = new Set(["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST", "ENAMETOOLONG"]);
const notFoundErrorCodes = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

/**
 * Creates an object store in a folder, with one file per key, to which other users have no access. Several processes of
 * one user can share it. A deletion removes the folders that it empties. At the start, temporary files of crashes that are
 * older than an hour are deleted.
 */
export function createFolderObjectStore(folder: string): ObjectStore {
  const root = resolve(folder);
  const temporaryFolder = join(root, temporaryFolderName);
  /** The root and the folder for temporary files, once they survive a power failure. No deletion removes them. */
  const durableFolders = new Set<string>();
  /** The identities of the other folders that survive a power failure, by path. */
  const flushedFolders = new LRUCache<string, string>({ max: maxRememberedFolders });
  // Ignores errors, because the next call of a store function reports that the folder is unusable.
  const ready = createDurableFolder(temporaryFolder)
    .then(() => removeLeftoverFiles(temporaryFolder))
    .catch(() => {});

  /**
   * Creates the root or the folder for temporary files, and its parents, accessible only to this user. To make them survive
   * a power failure, flushes each folder's parent at the first use of the folder. Does this even if the folder exists,
   * because another process may have created the folder and not flushed the parent yet.
   */
  async function createDurableFolder(path: string): Promise<void> {
    if (durableFolders.has(path)) return;
    if (path !== root) await createDurableFolder(dirname(path));
    const firstCreated = await mkdir(path, { recursive: true, mode: 0o700 });
    for (let current = path; ; current = dirname(current)) {
      await flushFolder(dirname(current)).catch((error) => {
        // Ignores missing access to the parent of an existing root. Without this access, no process of the store can
        // create the root, so an operator created it earlier, and the parent need not be flushed now.
        if (path !== root || firstCreated !== undefined || !["EACCES", "EPERM"].includes(getSystemOrS3ErrorCode(error)))
          throw error;
      });
      if (current.length <= (firstCreated ?? path).length) break;
    }
    durableFolders.add(path);
  }

  /**
   * Makes an object in the folder survive a power failure, with the folder and its parents below the root. The object keeps
   * these folders from being removed. A folder with the identity of a flushed one was never removed, nor were its parents.
   */
  async function flushFolderAndParents(path: string): Promise<void> {
    const identity = await flushFolder(path);
    if (path === root || flushedFolders.get(path) === identity) return;
    await flushFolderAndParents(dirname(path));
    flushedFolders.set(path, identity);
  }

  async function writeTemporaryFile(bytes: Uint8Array): Promise<string> {
    await createDurableFolder(temporaryFolder);
    const temporary = join(temporaryFolder, randomUUID());
    try {
      await writeFile(temporary, bytes, { flag: "wx", mode: 0o600, flush: true });
      return temporary;
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
  }

  async function write(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = await writeTemporaryFile(bytes);
    const parent = dirname(path);
    try {
      if (!flushedFolders.has(parent)) await mkdir(parent, { recursive: true, mode: 0o700 });
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await flushFolderAndParents(parent);
  }

  /** Runs `work` again while a folder that it needs was deleted, so that it creates all missing folders. */
  async function retryWithNewFolders(work: () => Promise<void>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await work();
      } catch (error) {
        if (getSystemOrS3ErrorCode(error) !== "ENOENT" || attempt === maxPutAttempts) throw error;
        durableFolders.clear();
        flushedFolders.clear();
      }
    }
  }

  /** Removes the folders of a path that contain nothing, so that those of a removed location do not remain. */
  async function removeEmptyFolders(path: string): Promise<void> {
    for (let current = dirname(path); current !== root; current = dirname(current)) {
      try {
        await rmdir(current);
      } catch (error) {
        // Another deletion can have removed the folder. Otherwise it has other content, or is left, which is harmless.
        if (getSystemOrS3ErrorCode(error) !== "ENOENT") return;
      }
      flushedFolders.delete(current);
    }
  }

  /** Without its temporary folder, the volume of the store may be unmounted, so no object counts as missing. */
  async function isStorePresent(): Promise<boolean> {
    await ready;
    return stat(temporaryFolder).then(
      () => true,
      () => false,
    );
  }

  function createUnavailableError(error: unknown): ObjectStoreUnavailableError {
    return new ObjectStoreUnavailableError(`the folder ${root} cannot be used (${getSystemOrS3ErrorCode(error)})`, {
      cause: error,
    });
  }

  async function read<T>(key: string, work: (path: string) => Promise<T>): Promise<T> {
    assertObjectStoreKey(key);
    try {
      return await work(join(root, key));
    } catch (error) {
      const isAbsent = notFoundErrorCodes.has(getSystemOrS3ErrorCode(error)) && (await isStorePresent());
      throw isAbsent ? new ObjectNotFoundError(key) : createUnavailableError(error);
    }
  }

  return {
    async put(key, bytes) {
      assertObjectStoreKey(key);
      try {
        await retryWithNewFolders(() => write(join(root, key), bytes));
      } catch (error) {
        throw callerErrorCodes.has(getSystemOrS3ErrorCode(error)) && (await isStorePresent())
          ? error
          : createUnavailableError(error);
      }
    },
    get: (key) => read(key, (path) => readFile(path)),
    getRange: (key, range) => read(key, (path) => readFileRange(path, range)),
    stream: (key) => read(key, openStream),
    async delete(key) {
      await read(key, unlink).catch(ignoreObjectNotFound);
      await removeEmptyFolders(join(root, key));
    },
    async check() {
      await retryWithNewFolders(async () => unlink(await writeTemporaryFile(Buffer.from("probe")))).catch((error) => {
        throw createUnavailableError(error);
      });
    },
    close: () => ready,
  };

  async function openStream(path: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }> {
    const file = await open(path, "r");
    try {
      const stats = await file.stat();
      if (stats.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
      return { body: toWebStream(file.createReadStream(), createUnavailableError), size: stats.size };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/**
 * Flushes the directory entries of a folder, so that its new files and folders survive a power failure. Returns the identity
 * of the folder, which another folder with the same path does not have.
 */
async function flushFolder(folder: string): Promise<string> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
    const { ino, birthtimeNs } = await handle.stat({ bigint: true });
    return `${ino} ${birthtimeNs}`;
  } finally {
    await handle.close();
  }
}

async function readFileRange(path: string, { start, end }: { start: number; end: number }): Promise<Uint8Array> {
  const file = await open(path, "r");
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(end - start), { position: start });
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

async function removeLeftoverFiles(incoming: string): Promise<void> {
  const newest = Date.now() - leftoverAgeMs;
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < newest) await rm(path, { force: true });
  }
}
