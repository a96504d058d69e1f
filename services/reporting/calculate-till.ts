import { createHash } from "node:crypto";
import type { EventData } from "@pragma/contracts/events";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { parseJson } from "@pragma/runtime/parse-json";
import { tillFacts } from "./accounting/till-facts.ts";
import { computeReport, currentReportVersion } from "./calculate/compute-report.ts";
import { convertTillV1 } from "./convert-till-v1.ts";
import { withoutChecks } from "./without-checks.ts";

/** Till-ingest has checked what it accepted; that these are the same bytes follows from their hash. */
const accepted = { V1: withoutChecks(TillV1), V2: withoutChecks(TillV2) };

/** One till to calculate, as a thread is given it. */
export interface CalculateTill {
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
}: CalculateTill): CalculatedTill {
  const found = createHash("sha256").update(bytes).digest("hex");
  if (found !== hash)
    throw new Error(`The stored body of till ${tillId} has hash ${found}, not ${hash}: it was changed.`);
  const body = parseJson(bytes);
  const till =
    version === "V1" ? convertTillV1(accepted.V1.parse(body), { tillId, timeZone }) : accepted.V2.parse(body);
  const report = computeReport(till, { locationId });
  if (!report) return null;
  const dayOf = dayIn(timeZone);
  return {
    id: report.id,
    reportVersion: currentReportVersion,
    reportNumber: till.reportNumber,
    totalSales: report.reportV2.totalSales,
    day: dayOf(till.startedAt),
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    v2: JSON.stringify(report.reportV2),
    v0: withoutId(report.reportV0),
    listItem: JSON.stringify(report.listItem),
    accountingFacts: JSON.stringify(tillFacts(till, dayOf)),
    orders: report.orders.map(({ id, openedAt, v1, v2 }) => ({
      id,
      day: dayOf(openedAt),
      openedAt,
      v1: withoutId(v1),
      v2: withoutId(v2),
    })),
  };
}

function withoutId({ id: _, ...rest }: { id: string }): string {
  return JSON.stringify(rest);
}

const firstDay = "0001-01-01";
const lastDay = "9999-12-31";

/**
 * Days of a time zone, YYYY-MM-DD. An instant of the years 1 to 9999 that the zone's clocks show in the year before or
 * after is on the first or the last of all days.
 */
function dayIn(timeZone: string): (instant: string) => string {
  const format = new Intl.DateTimeFormat("en-CA", { timeZone, year: "numeric", month: "2-digit", day: "2-digit" });
  return (instant) => {
    const day = format.format(new Date(instant)).padStart(lastDay.length, "0");
    if (day.length > lastDay.length) return lastDay;
    return instant.startsWith(firstDay) && day.endsWith("12-31") ? firstDay : day;
  };
}
