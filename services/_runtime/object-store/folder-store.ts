import { randomUUID } from "node:crypto";
import { type FileHandle, open, readdir, readFile, rename, rm, stat, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { DurableFolders, flushFolder } from "./durable-folders.ts";
import { assertObjectKey } from "./object-key.ts";
import { ObjectNotFound, type ObjectStore, ObjectStoreUnavailable } from "./store-interface.ts";
import { webBody } from "./web-body.ts";

/** Holds objects until they are whole. No key can have this name. */
const incomingName = "~incoming";
const leftoverAgeMs = 3_600_000;

/** A key that is a folder of another key, or longer than this file system allows: trying again cannot help. */
const faultsOfTheCall = new Set(["EISDIR", "ENOTDIR", "ENOTEMPTY", "EEXIST", "ENAMETOOLONG"]);
const faultsOfAbsence = new Set(["ENOENT", "ENOTDIR", "EISDIR"]);

/** An object store in a folder: one file per key, which other users can neither read nor list. Several processes of one user may share the folder. Leftovers of a crash that are older than an hour are removed at open. */
export function openFolderStore(folder: string): ObjectStore {
  return new FolderStore(resolve(folder));
}

class FolderStore implements ObjectStore {
  readonly #root: string;
  readonly #incoming: string;
  readonly #folders: DurableFolders;
  readonly #opened: Promise<void>;

  constructor(root: string) {
    this.#root = root;
    this.#incoming = join(root, incomingName);
    this.#folders = new DurableFolders(root);
    // An unusable folder is reported by whatever is called next.
    this.#opened = this.#folders
      .make(this.#incoming)
      .then(() => removeLeftovers(this.#incoming))
      .catch(() => {});
  }

  async put(key: string, bytes: Uint8Array): Promise<void> {
    const path = this.#pathOf(key);
    try {
      await this.#remakingFolders(() => this.#write(path, bytes));
    } catch (error) {
      throw await this.#writeFault(error);
    }
  }

  async get(key: string): Promise<Uint8Array> {
    const path = this.#pathOf(key);
    try {
      return await readFile(path);
    } catch (error) {
      throw await this.#readFault(key, error);
    }
  }

  async stream(key: string): Promise<{ body: ReadableStream<Uint8Array>; size: number }> {
    const path = this.#pathOf(key);
    try {
      const file = await openFile(path);
      const body = webBody(file.handle.createReadStream(), (error) => this.#unavailable(error));
      return { body, size: file.size };
    } catch (error) {
      throw await this.#readFault(key, error);
    }
  }

  async delete(key: string): Promise<void> {
    const path = this.#pathOf(key);
    try {
      await unlink(path);
    } catch (error) {
      const fault = await this.#readFault(key, error);
      if (!(fault instanceof ObjectNotFound)) throw fault;
    }
  }

  async check(): Promise<void> {
    try {
      await this.#remakingFolders(async () => unlink(await this.#writeIncoming(Buffer.from("probe"))));
    } catch (error) {
      throw this.#unavailable(error);
    }
  }

  async close(): Promise<void> {
    await this.#opened;
  }

  #pathOf(key: string): string {
    assertObjectKey(key);
    return join(this.#root, key);
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const temporary = await this.#writeIncoming(bytes);
    const folder = dirname(path);
    try {
      await this.#folders.make(folder);
      await rename(temporary, path);
    } catch (error) {
      await rm(temporary, { force: true });
      throw error;
    }
    await flushFolder(folder);
  }

  async #writeIncoming(bytes: Uint8Array): Promise<string> {
    await this.#folders.make(this.#incoming);
    const temporary = join(this.#incoming, randomUUID());
    await writeFlushed(temporary, bytes);
    return temporary;
  }

  /** Folders that someone removed are made again. */
  async #remakingFolders(write: () => Promise<void>): Promise<void> {
    try {
      await write();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      this.#folders.forget();
      await write();
    }
  }

  async #writeFault(error: unknown): Promise<unknown> {
    return faultsOfTheCall.has(codeOf(error)) && (await this.#isThere()) ? error : this.#unavailable(error);
  }

  async #readFault(key: string, error: unknown): Promise<unknown> {
    return faultsOfAbsence.has(codeOf(error)) && (await this.#isThere())
      ? new ObjectNotFound(key)
      : this.#unavailable(error);
  }

  /** Only then does a missing file mean a missing object: an unmounted volume is not an empty store. */
  async #isThere(): Promise<boolean> {
    await this.#opened;
    return stat(this.#incoming).then(
      () => true,
      () => false,
    );
  }

  #unavailable(error: unknown): ObjectStoreUnavailable {
    return new ObjectStoreUnavailable(`the folder ${this.#root} cannot be used (${codeOf(error)})`, error);
  }
}

/** An open file and its size in bytes. */
async function openFile(path: string): Promise<{ handle: FileHandle; size: number }> {
  const handle = await open(path, "r");
  try {
    const found = await handle.stat();
    if (found.isDirectory()) throw Object.assign(new Error(`${path} is a folder`), { code: "EISDIR" });
    return { handle, size: found.size };
  } catch (error) {
    await handle.close();
    throw error;
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

/** The code of a system error, such as ENOSPC. */
function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "unknown";
}
