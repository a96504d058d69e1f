import { createHash } from "node:crypto";
import { createDayFormatter } from "@pragma/contracts/date-time";
import type { BusEventData } from "@pragma/contracts/events";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { parseJsonBody } from "@pragma/runtime/json/parse-json";
import { computeDocuments, currentReportVersion } from "./calculation/compute-report.ts";
import { computeTillAccountingData } from "./calculation/settlement/till-accounting-data.ts";
import { convertTillV1ToV2 } from "./calculation/till-v1-conversion/convert-till-v1.ts";
import { toConversionOnlySchema } from "./calculation/unchecked-schema.ts";
import { computeTillFigures } from "./days/till-figures.ts";
import { computeTillEReportData } from "./e-reporting/till-e-figures.ts";
import { computeTillMetrics } from "./metrics/till-metrics.ts";

/** Schemas without checks, because till-ingest has validated the body, and the hash proves that it is unchanged. */
const acceptedTillSchemas = { V1: toConversionOnlySchema(TillV1), V2: toConversionOnlySchema(TillV2) };

export interface TillCalculationInput {
  bytes: Uint8Array;
  /** The SHA-256 hash of the bytes that till-ingest accepted. */
  hash: string;
  version: BusEventData<"till.pushed">["version"];
  tillId: string;
  locationId: string;
  timeZone: string;
}

/**
 * The responses for the report and orders of a till, as JSON texts, and the values that are stored with them. `v0` and
 * the orders have no `id`, `createdAt` and `updatedAt`, which are added when the responses are stored.
 */
export type TillDocuments = NonNullable<ReturnType<typeof calculateTill>>;

/**
 * Parses a till and returns its report and orders, or null if the till is in training mode.
 *
 * @throws Error when the bytes in the object store differ from the bytes that till-ingest accepted;
 * `AmountOutOfRangeError` when an amount is too large to be represented exactly as a JSON number.
 */
export default function calculateTill(input: TillCalculationInput) {
  const { bytes, hash, version, tillId, locationId, timeZone } = input;
  const actualHash = createHash("sha256").update(bytes).digest("hex");
  if (actualHash !== hash)
    throw new Error(`The stored body of till ${tillId} has changed: its hash is ${actualHash} instead of ${hash}.`);
  const body = parseJsonBody(bytes);
  const till =
    version === "V1"
      ? convertTillV1ToV2(acceptedTillSchemas.V1.parse(body), { tillId, timeZone })
      : acceptedTillSchemas.V2.parse(body);
  const report = computeDocuments(till, { locationId });
  if (!report) return null;
  const toDay = createDayFormatter(timeZone);
  const accountingData = computeTillAccountingData(till, toDay);
  const tillFigures = computeTillFigures(report.reportV2, accountingData, till);
  return {
    id: report.id,
    reportVersion: currentReportVersion,
    reportNumber: till.reportNumber,
    totalSales: report.reportV2.totalSales,
    day: toDay(till.startedAt),
    startedAt: till.startedAt,
    finalizedAt: till.finalizedAt,
    v2: JSON.stringify(report.reportV2),
    v0: serializeWithoutId(report.reportV0),
    listItem: JSON.stringify(report.listItem),
    /** `TillAccountingData` as JSON: figures that accounting exports need and that the report does not contain. */
    accountingDataJson: JSON.stringify(accountingData),
    /** `TillFigures` as JSON: figures from which the business day is computed. Null if a sum is too large. */
    tillFiguresJson: tillFigures && JSON.stringify(tillFigures),
    eReportData: computeTillEReportData(till, report.reportableOrders, timeZone),
    metrics: computeTillMetrics(report.reportableOrders, report.reportV2, { timeZone }),
    orders: report.orders.map(({ id, openedAt, v1, v2 }) => ({
      id,
      day: toDay(openedAt),
      openedAt,
      v1: serializeWithoutId(v1),
      v2: serializeWithoutId(v2),
    })),
  };
}

function serializeWithoutId({ id: _, ...rest }: { id: string }): string {
  return JSON.stringify(rest);
}
