import type { FaultyBody } from "@pragma/runtime/faults";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
import { inThread, openThreadedReader } from "@pragma/runtime/threaded-reader";
import { type CatalogTexts, writeCatalog } from "./catalog-texts.ts";
import { checkCatalog } from "./check-catalog.ts";

/** What a body may hold: the most products, with ten prices and seven sub-categories each. */
const catalogLimits: JsonLimits = { values: 1_000_000, containers: 400_000 };

/**
 * Parses and checks the body of a catalogue, and writes it down as it will be sent.
 *
 * @throws `ApiError` malformed_json.
 */
export function readCatalog(bytes: Uint8Array): CatalogTexts | FaultyBody {
  const tooLarge = checkJsonLimits(bytes, catalogLimits);
  if (tooLarge) return tooLarge;
  const checked = checkCatalog(parseJson(bytes));
  return "faults" in checked ? checked : writeCatalog(checked.catalog);
}

export default inThread(readCatalog);

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const inlineSize = 64 * 1024;

/** Reads the bodies of catalogues: one of 20,000 products would hold up requests for a second. */
export function openCatalogReader(options: { threads: number; heapMegabytes: number }) {
  // Catalogues come rarely: no thread waits for them.
  return openThreadedReader(import.meta.url, "./read-catalog", readCatalog, { ...options, inlineSize, kept: 0 });
}
