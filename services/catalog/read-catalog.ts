import { hasMoreContainersThan } from "@pragma/runtime/body-extent";
import type { FaultyBody } from "@pragma/runtime/define-route";
import { parseJson } from "@pragma/runtime/parse-json";
import { type CatalogTexts, writeCatalog } from "./catalog-texts.ts";
import { checkCatalog } from "./check-catalog.ts";

/** Objects and lists in a body: the most products, with ten prices and seven sub-categories each. */
const mostContainers = 400_000;

/**
 * Parses and checks the body of a catalogue, and writes it down as it will be sent.
 *
 * @throws `ApiError` malformed_json.
 */
export function readCatalog(bytes: Uint8Array): CatalogTexts | FaultyBody {
  if (hasMoreContainersThan(mostContainers, bytes)) {
    const message = `Must have at most ${mostContainers} objects and lists in all`;
    return { faults: [{ in: "body", path: "", code: "too_big", message }], count: 1 };
  }
  const checked = checkCatalog(parseJson(bytes));
  return "faults" in checked ? checked : writeCatalog(checked.catalog);
}
