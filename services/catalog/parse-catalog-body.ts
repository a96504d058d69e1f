import { createBodyParserWorker, createThreadedBodyParser } from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { type SerializedCatalog, serializeCatalog } from "./serialize-catalog.ts";
import { validateCatalog } from "./validate-catalog.ts";

/** Limits of a body: the maximum number of products fits, with ten prices and seven sub-categories each. */
const catalogJsonLimits: JsonLimits = { values: 1_000_000, containers: 400_000 };

/**
 * Parses and validates a catalog body. Returns the catalog in its serialized form, or the issues of the body.
 *
 * @throws `ApiError` malformed_json.
 */
export function parseCatalogBody(bytes: Uint8Array): SerializedCatalog | RequestBodyIssues {
  const limitIssue = checkJsonLimits(bytes, catalogJsonLimits);
  if (limitIssue) return limitIssue;
  const validated = validateCatalog(parseJsonBody(bytes));
  return "issues" in validated ? validated : serializeCatalog(validated.catalog);
}

export default createBodyParserWorker(parseCatalogBody);

/** Smaller bodies are parsed in at most 2 ms: handing them to a thread would cost more. */
const maxInlineBytes = 64 * 1024;

/** Creates the reader of catalog bodies. It uses a thread, because 20,000 products take a second to parse. */
export function createCatalogBodyReader(options: { threads: number; heapMegabytes: number }) {
  // Catalogs are rarely sent, so no thread is kept waiting for them.
  return createThreadedBodyParser(import.meta.url, "./parse-catalog-body", parseCatalogBody, {
    ...options,
    maxInlineBytes,
    minThreads: 0,
  });
}
