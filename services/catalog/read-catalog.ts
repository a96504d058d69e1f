import type { FaultyBody } from "@pragma/runtime/faults";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
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
