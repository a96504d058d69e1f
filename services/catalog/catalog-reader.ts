import { ApiError } from "@pragma/contracts/errors";
import type { FaultyBody } from "@pragma/runtime/define-route";
import { createWorkerPool } from "@pragma/runtime/worker-pool";
import type { CatalogTexts } from "./catalog-texts.ts";
import { readCatalog } from "./read-catalog.ts";
import type { ReadCatalogAnswer } from "./read-catalog-worker.ts";

/** Reads the bodies of catalogues without holding up requests. */
export interface CatalogReader {
  /** @throws `ApiError` malformed_json. */
  read(bytes: Uint8Array): Promise<CatalogTexts | FaultyBody>;
  close(): Promise<void>;
}

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const inlineSize = 64 * 1024;

export function openCatalogReader({ threads }: { threads: number }): CatalogReader {
  // Catalogues come rarely: no thread waits for them.
  const options = { threads, kept: 0 } as const;
  const pool = createWorkerPool<Uint8Array, ReadCatalogAnswer>(import.meta.url, "./read-catalog-worker", options);
  return {
    async read(bytes) {
      if (bytes.byteLength <= inlineSize) return readCatalog(bytes);
      const answer = await pool.run(bytes);
      if ("malformed" in answer) throw new ApiError("malformed_json", { detail: answer.malformed });
      return answer;
    },
    close: () => pool.close(),
  };
}
