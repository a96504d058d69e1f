import { createHash } from "node:crypto";
import type { EventData } from "@pragma/contracts/events";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { computeTillAccountingData } from "./accounting/till-accounting-data.ts";
import { computeReport, currentReportVersion } from "./calculation/compute-report.ts";
import { toUncheckedSchema } from "./calculation/unchecked-schema.ts";
import { convertTillV1 } from "./till-v1-conversion/convert-till-v1.ts";

/** Till-ingest has checked what it accepted; that these are the same bytes follows from their hash. */
const acceptedTillSchemas = { V1: toUncheckedSchema(TillV1), V2: toUncheckedSchema(TillV2) };

/** One till to calculate, as a thread is given it. */
export interface CalculateTillTask {
  bytes: Uint8Array;
  /** SHA-256 of the bytes as they were accepted. */
  hash: string;
  version: EventData<"till.pushed">["version"];
  tillId: string;
  locationId: string;
  timeZone: string;
}

/** The replies that follow from a till, as text. V0 and orders lack their id and their times, which they get when they are stored. */
export interface CalculatedReport {
  id: string;
  reportVersion: number;
  reportNumber: number;
  totalSales: number;
  day: string;
  startedAt: string;
  finalizedAt: string;
  v2: string;
  v0: string;
  listItem: string;
  /** What accounting exports need beside the report. */
  accountingFacts: string;
  orders: CalculatedOrder[];
}

export interface CalculatedOrder {
  id: string;
  day: string;
  openedAt: string;
  v1: string;
  v2: string;
}

/** Null for a training till. */
export type CalculatedTill = CalculatedReport | null;

/**
 * Parses a till and calculates its report and orders. Runs in a thread of its own, so that a long till does not hold
 * up requests.
 *
 * @throws when the bytes are not those that were accepted: that cannot happen to a till that was kept well.
 */
export default function calculateTill({
  bytes,
  hash,
  version,
  tillId,
  locationId,
  timeZone,
}: CalculateTillTask): CalculatedTill {
  const actualHash = createHash("sha256").update(bytes).digest("hex");
  if (actualHash !== hash)
    throw new Error(`The stored body of till ${tillId} has hash ${actualHash}, not ${hash}: it was changed.`);
  const body = parseJsonBody(bytes);
  const till =
    version === "V1"
      ? convertTillV1(acceptedTillSchemas.V1.parse(body), { tillId, timeZone })
      : acceptedTillSchemas.V2.parse(body);
  const report = computeReport(till, { locationId });
  if (!report) return null;
  const dayOf = createDayFormatter(timeZone);
  return {
    id: report.id,
    reportVersion: currentReportVersion,
    reportNumber: till.reportNumber,
    totalSales: report.reportV2.totalSales,
    day: dayOf(till.startedAt),
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    v2: JSON.stringify(report.reportV2),
    v0: serializeWithoutId(report.reportV0),
    listItem: JSON.stringify(report.listItem),
    accountingFacts: JSON.stringify(computeTillAccountingData(till, dayOf)),
    orders: report.orders.map(({ id, openedAt, v1, v2 }) => ({
      id,
      day: dayOf(openedAt),
      openedAt,
      v1: serializeWithoutId(v1),
      v2: serializeWithoutId(v2),
    })),
  };
}

function serializeWithoutId({ id: _, ...rest }: { id: string }): string {
  return JSON.stringify(rest);
}

const firstDay = "0001-01-01";
const lastDay = "9999-12-31";

/**
 * Days of a time zone, YYYY-MM-DD. An instant of the years 1 to 9999 that the zone's clocks show in the year before or
 * after is on the first or the last of all days.
 */
function createDayFormatter(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (instant) => {
    const day = format.format(new Date(instant)).padStart(lastDay.length, "0");
    if (day.length > lastDay.length) return lastDay;
    return instant.startsWith(firstDay) && day.endsWith("12-31") ? firstDay : day;
  };
}
