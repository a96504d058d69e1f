import { createHash } from "node:crypto";
import { checkJsonLimits } from "@pragma/runtime/json-limits";
import { parseJson } from "@pragma/runtime/parse-json";
import { checkTillV1 } from "./check-till-v1.ts";
import { checkTillV2 } from "./check-till-v2.ts";
import type { FaultyTill, TillFacts, TillFormat, WantedFormat } from "./till-facts.ts";
import { tillLimits } from "./till-limits.ts";

/** A till as it was read from a body: its facts and the SHA-256 of the exact bytes, in hexadecimal. */
export interface SoundTill<Format extends TillFormat = TillFormat> {
  facts: TillFacts<Format>;
  hash: string;
}

const checks = { V1: checkTillV1, V2: checkTillV2 };

/**
 * Parses and checks the body of a till.
 *
 * @throws `ApiError` malformed_json.
 */
export function readTill(bytes: Uint8Array, wanted: WantedFormat): SoundTill | FaultyTill {
  const tooLarge = checkJsonLimits(bytes, tillLimits);
  if (tooLarge) return tooLarge;
  const body = parseJson(bytes);
  const checked = checks[wanted === "either" ? formatOf(body) : wanted](body);
  if ("faults" in checked) return checked;
  return { facts: checked.facts, hash: createHash("sha256").update(bytes).digest("hex") };
}

/** Only the older format wraps the till in `tillJson`. */
function formatOf(body: unknown): TillFormat {
  return typeof body === "object" && body !== null && "tillJson" in body ? "V1" : "V2";
}
