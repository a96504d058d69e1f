import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { LRUCache } from "lru-cache";
import {
  assertObjectKey,
  codeOf,
  ignoreAbsence,
  ObjectNotFound,
  type ObjectStore,
  ObjectStoreUnavailable,
  webBody,
} from "./store-interface.ts";

/** Holds objects until they are whole. No key can have this name. */
const incomingName = "~incoming";
const leftoverAgeMs = 3_600_000;
/** Bounds the memory (about 20 MB); a folder that fell out costs one more flush. */
const rememberedFolders = 100_000;

/** A key that is a folder of another key, or longer than this file system allows: trying again cannot help. */
const faultsOfTheCall = new Set(["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST", "ENAMETOOLONG"]);
const faultsOfAbsence = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

/** An object store in a folder: one file per key, which other users can neither read nor list. Several processes of one user may share the folder. Leftovers of a crash that are older than an hour are removed at open. */
export function openFolderStore(folder: string): ObjectStore {
  const root = resolve(folder);
  const incoming = join(root, incomingName);
  const durable = new LRUCache<string, true>({ max: rememberedFolders });
  // An unusable folder is reported by whatever is called next.
  const opened = makeFolder(incoming)
    .then(() => removeLeftovers(incoming))
    .catch(() => {});

  /**
   * Makes a folder for this user only, with all above it, whose existence survives a power cut. One that another process
   * made may not be on disk yet: the first use of each flushes its entry in its parent, found or made.
   */
  async function makeFolder(path: string): Promise<void> {
    if (durable.has(path)) return;
    if (path !== root) await makeFolder(dirname(path));
    const made = await mkdir(path, { recursive: true, mode: 0o700 });
    for (let each = path; ; each = dirname(each)) {
      await flushFolder(dirname(each)).catch((error) => {
        // The parent of a root that was there already may be closed to us; who made the root then answers for it.
        if (path !== root || made !== undefined || !["EACCES", "EPERM"].includes(codeOf(error))) throw error;
      });
      if (each.length <= (made ?? path).length) break;
    }
    durable.set(path, true);
  }

  async function writeIncoming(bytes: Uint8Array): Promise<string> {
    await makeFolder(incoming);
    const temporary = join(incoming, randomUUID());
    await writeFlushed(temporary, bytes);
    return temporary;
  }

  async function write(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = await writeIncoming(bytes);
    try {
      await makeFolder(dirname(path));
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await flushFolder(dirname(path));
  }

  /** Folders that someone removed are made again. */
  async function remakingFolders(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      durable.clear();
      await work();
    }
  }

  /** Only while it is does a missing file mean a missing object: an unmounted volume is not an empty store. */
  async function isThere(): Promise<boolean> {
    await opened;
    return stat(incoming).then(
      () => true,
      () => false,
    );
  }

  function unavailable(error: unknown): ObjectStoreUnavailable {
    return new ObjectStoreUnavailable(`the folder ${root} cannot be used (${codeOf(error)})`, { cause: error });
  }

  async function read<T>(key: string, work: (path: string) => Promise<T>): Promise<T> {
    assertObjectKey(key);
    try {
      return await work(join(root, key));
    } catch (error) {
      const isAbsent = faultsOfAbsence.has(codeOf(error)) && (await isThere());
      throw isAbsent ? new ObjectNotFound(key) : unavailable(error);
    }
  }

  return {
    async put(key, bytes) {
      assertObjectKey(key);
      try {
        await remakingFolders(() => write(join(root, key), bytes));
      } catch (error) {
        throw faultsOfTheCall.has(codeOf(error)) && (await isThere()) ? error : unavailable(error);
      }
    },
    get: (key) => read(key, (path) => readFile(path)),
    stream: (key) => read(key, openStream),
    async delete(key) {
      await read(key, unlink).catch(ignoreAbsence);
    },
    async check() {
      await remakingFolders(async () => unlink(await writeIncoming(Buffer.from("probe")))).catch((error) => {
        throw unavailable(error);
      });
    },
    close: () => opened,
  };

  async function openStream(path: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }> {
    const file = await open(path, "r");
    try {
      const found = await file.stat();
      if (found.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
      return { body: webBody(file.createReadStream(), unavailable), size: found.size };
    } catch (error) {
      await file.close();
      throw error;
    }
  }
}

/** Makes the entries of a folder durable: what was renamed into it stays there after a power cut. */
async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Writes a new file whose content is on disk when this resolves, or leaves none. */
async function writeFlushed(path: string, bytes: Uint8Array): Promise<void> {
  const file = await open(path, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

async function removeLeftovers(incoming: string): Promise<void> {
  const newest = Date.now() - leftoverAgeMs;
  for (const name of await readdir(incoming)) {
    const path = join(incoming, name);
    const { mtimeMs } = await stat(path).catch(() => ({ mtimeMs: Date.now() }));
    if (mtimeMs < newest) await rm(path, { force: true });
  }
}
