import {
  createBodyParserWorkerFunction,
  createThreadedBodyParser,
} from "@pragma/runtime/concurrency/threaded-body-parser";
import type { RequestBodyIssues } from "@pragma/runtime/json/body-issues";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json/json-limits";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { type SerializedCatalog, serializeCatalogLists } from "./serialize-catalog.ts";
import { validateCatalog } from "./validate-catalog.ts";

/** JSON limits for a body. They allow the maximum number of products, each with six prices and three subcategories. */
const catalogJsonLimits: JsonLimits = { values: 1_000_000, containers: 400_000 };

/** Returns the catalog in a body, serialized for storage, or its issues. @throws `ApiError` malformed_json. */
export function parseAndSerializeCatalogBody(bytes: Uint8Array): SerializedCatalog | RequestBodyIssues {
  const limitIssue = checkJsonLimits(bytes, catalogJsonLimits);
  if (limitIssue) return limitIssue;
  const validated = validateCatalog(parseJsonBody(bytes));
  return "issues" in validated ? validated : serializeCatalogLists(validated.catalog);
}

export default createBodyParserWorkerFunction(parseAndSerializeCatalogBody);

/** Maximum bytes of a body that is parsed without a thread, because parsing such a body takes only about 2 ms. */
const maxInlineBytes = 64 * 1024;

/** Returns a parser that parses large bodies in a thread, because parsing 20,000 products takes one second. */
export function createCatalogParser(options: { threads: number; heapMegabytes: number }) {
  // Catalogs are rarely sent, so the thread ends when it is idle.
  return createThreadedBodyParser(import.meta.url, "./parse-catalog-body", parseAndSerializeCatalogBody, {
    ...options,
    maxInlineBytes,
    minThreads: 0,
  });
}
