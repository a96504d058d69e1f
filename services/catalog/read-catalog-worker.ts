import { ApiError } from "@pragma/contracts/errors";
import type { FaultyBody } from "@pragma/runtime/faults";
import type { CatalogTexts } from "./catalog-texts.ts";
import { readCatalog } from "./read-catalog.ts";

/** What a thread read. An error loses its class on the way between threads: malformed JSON travels as its detail. */
export type ReadCatalogAnswer = CatalogTexts | FaultyBody | { malformed: string };

/** Reads the body of a catalogue in a thread of its own: one of 20,000 products would hold up requests for a second. */
export default function readCatalogInThread(bytes: Uint8Array): ReadCatalogAnswer {
  try {
    return readCatalog(bytes);
  } catch (error) {
    if (error instanceof ApiError && error.code === "malformed_json") return { malformed: error.message };
    throw error;
  }
}
