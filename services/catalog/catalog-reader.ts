import { ApiError } from "@pragma/contracts/errors";
import type { FaultyBody } from "@pragma/runtime/faults";
import { createSemaphore } from "@pragma/runtime/semaphore";
import { createWorkerPool, OutOfMemoryError } from "@pragma/runtime/worker-pool";
import type { CatalogTexts } from "./catalog-texts.ts";
import { readCatalog } from "./read-catalog.ts";
import type { ReadCatalogAnswer } from "./read-catalog-worker.ts";

/** Reads the bodies of catalogues without holding up requests. */
export interface CatalogReader {
  /**
   * Each sender's large bodies are read one after the other.
   *
   * @throws `ApiError` malformed_json, body_too_large.
   */
  read(bytes: Uint8Array, sender: string): Promise<CatalogTexts | FaultyBody>;
  close(): Promise<void>;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const inlineSize = 64 * 1024;

export function openCatalogReader(options: { threads: number; heapMegabytes: number }): CatalogReader {
  const pool = createWorkerPool<Uint8Array, ReadCatalogAnswer>(import.meta.url, "./read-catalog-worker", {
    ...options,
    // Catalogues come rarely: no thread waits for them.
    kept: 0,
  });
  const turns = createSemaphore(1);

  async function readInThread(bytes: Uint8Array): Promise<ReadCatalogAnswer> {
    try {
      return await pool.run(bytes);
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      throw new ApiError("body_too_large", {
        detail: "Reading this body takes more memory than there is.",
        cause: error,
      });
    }
  }

  return {
    async read(bytes, sender) {
      if (bytes.byteLength <= inlineSize) return readCatalog(bytes);
      const answer = await turns.run(() => readInThread(bytes), sender);
      if ("malformed" in answer) throw new ApiError("malformed_json", { detail: answer.malformed });
      return answer;
    },
    close: () => pool.close(),
  };
}
