import { createBodyParserWorker, createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { BodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { type SerializedCatalog, serializeCatalog } from "./serialize-catalog.ts";
import { validateCatalog } from "./validate-catalog.ts";

/** What a body may hold: the most products, with ten prices and seven sub-categories each. */
const catalogJsonLimits: JsonLimits = { values: 1_000_000, containers: 400_000 };

/**
 * Parses and checks the body of a catalogue, and writes it down as it will be sent.
 *
 * @throws `ApiError` malformed_json.
 */
export function parseCatalogBody(bytes: Uint8Array): SerializedCatalog | BodyIssues {
  const limitIssue = checkJsonLimits(bytes, catalogJsonLimits);
  if (limitIssue) return limitIssue;
  const validated = validateCatalog(parseJsonBody(bytes));
  return "issues" in validated ? validated : serializeCatalog(validated.catalog);
}

export default createBodyParserWorker(parseCatalogBody);

/** Below this size, in bytes, reading takes less than handing over to a thread is worth: two milliseconds. */
const maxInlineBytes = 64 * 1024;

/** Reads the bodies of catalogues: one of 20,000 products would hold up requests for a second. */
export function createCatalogBodyReader(options: { threads: number; heapMegabytes: number }) {
  // Catalogues come rarely: no thread waits for them.
  return createThreadedBodyParser(import.meta.url, "./parse-catalog-body", parseCatalogBody, {
    ...options,
    maxInlineBytes,
    minThreads: 0,
  });
}
