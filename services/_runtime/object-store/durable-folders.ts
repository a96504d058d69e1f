import { mkdir, open } from "node:fs/promises";
import { dirname } from "node:path";
import { LRUCache } from "lru-cache";

/** Bounds the memory (about 20 MB); a folder that fell out costs one more flush. */
const rememberedFolders = 100_000;

/**
 * Makes folders for this user only, whose existence survives a power cut. A folder that another process made may not be on disk yet, so that
 * the first use of each flushes the entry in its parent too, found or made.
 */
export class DurableFolders {
  readonly #root: string;
  readonly #made = new LRUCache<string, Promise<void>>({ max: rememberedFolders });

  constructor(root: string) {
    this.#root = root;
  }

  /** Makes the root, or a folder somewhere below it, with all between. */
  make(folder: string): Promise<void> {
    const known = this.#made.get(folder);
    if (known) return known;
    const making = folder === this.#root ? this.#makeRoot() : this.#makeBelowRoot(folder);
    this.#made.set(folder, making);
    making.catch(() => this.#made.delete(folder));
    return making;
  }

  /** For when folders turn out to have been removed. */
  forget(): void {
    this.#made.clear();
  }

  async #makeRoot(): Promise<void> {
    const firstMade = await mkdir(this.#root, { recursive: true, mode: 0o700 });
    if (firstMade === undefined) return flushIfAllowed(dirname(this.#root));
    let parent = this.#root;
    do {
      parent = dirname(parent);
      await flushFolder(parent);
    } while (parent !== dirname(firstMade));
  }

  async #makeBelowRoot(folder: string): Promise<void> {
    const parent = dirname(folder);
    await this.make(parent);
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
    await flushFolder(parent);
  }
}

/** Makes the entries of a folder durable: what was renamed into it stays there after a power cut. */
export async function flushFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** The parent of a root that was there already may be closed to us; who made the root then answers for it. */
async function flushIfAllowed(folder: string): Promise<void> {
  await flushFolder(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EACCES" && error.code !== "EPERM") throw error;
  });
}
