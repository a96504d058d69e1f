import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { type ComputedReport, computeReport } from "@pragma/reporting/calculation/compute-report";
import { convertTillV1 } from "@pragma/reporting/till-v1-conversion/convert-till-v1";

export type TillFormat = "V1" | "V2";

/** The report and orders that a parsed till must yield at a location of Paris; null when it must yield none. */
export function computeExpectedReport(format: TillFormat, body: unknown, locationId: string): ComputedReport | null {
  if (format === "V2") return computeReport(TillV2.parse(body), { locationId });
  const till = TillV1.parse(body);
  const place = { tillId: till.tillJson.client_id, timeZone: "Europe/Paris" };
  return computeReport(convertTillV1(till, place), { locationId });
}

/** A calculated value as it is read: what JSON makes of it. */
export function toJsonValue<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}
