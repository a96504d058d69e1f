import { createHash } from "node:crypto";
import type { FaultyBody } from "@pragma/runtime/faults";
import { checkJsonLimits, type JsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
import { inThread } from "@pragma/runtime/threaded-reader";
import { checkTillV1, checkTillV2 } from "./check-till.ts";
import type { TillFacts, TillFormat, WantedFormat } from "./till-facts.ts";

/** A till as it was read from a body: its facts and the SHA-256 of the exact bytes, in hexadecimal. */
export interface SoundTill<Format extends TillFormat = TillFormat> {
  facts: TillFacts<Format>;
  hash: string;
}

/**
 * What a till may hold: as much as 50 MB of real orders do. Whatever is accepted reporting
 * has to calculate in the memory of one of its threads.
 */
const tillLimits: JsonLimits = { values: 2_000_000, containers: 150_000 };

const checks = { V1: checkTillV1, V2: checkTillV2 };

/**
 * Parses and checks the body of a till.
 *
 * @throws `ApiError` malformed_json.
 */
export function readTill(bytes: Uint8Array, wanted: WantedFormat): SoundTill | FaultyBody {
  const tooLarge = checkJsonLimits(bytes, tillLimits);
  if (tooLarge) return tooLarge;
  const body = parseJson(bytes);
  const checked = checks[wanted === "either" ? formatOf(body) : wanted](body);
  if ("faults" in checked) return checked;
  return { facts: checked.facts, hash: createHash("sha256").update(bytes).digest("hex") };
}

export default inThread(readTill);

/** Only the older format wraps the till in `tillJson`. */
function formatOf(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
