import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { type ComputedDocuments, computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { convertTillV1ToV2 } from "@pragma/reporting/calculation/till-v1-conversion/convert-till-v1";

export type TillFormat = "V1" | "V2";

/** Returns the expected report and orders of a till at a location in Paris, or null if it is a training till. */
export function computeExpectedDocuments(
  format: TillFormat,
  body: unknown,
  locationId: string,
): ComputedDocuments | null {
  if (format === "V2") return computeDocuments(TillV2.parse(body), { locationId });
  const till = TillV1.parse(body);
  const conversion = { tillId: till.tillJson.client_id, timeZone: "Europe/Paris" };
  return computeDocuments(convertTillV1ToV2(till, conversion), { locationId });
}

/** Serializes a value as JSON and parses it, so that it can be compared with a value in a response. */
export function roundTripThroughJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
