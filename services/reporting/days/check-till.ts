import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import {
  buildTillDryRunWithoutReport,
  type TillCheckRequest,
  type TillDryRun,
  tillCheckRequestSchema,
  tillCheckTopic,
  toTillReportParkedReason,
} from "@pragma/contracts/till-check";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { maxRequestBodyBytes } from "@pragma/runtime/limits/request-body-memory";
import type { BusRequestHandler } from "@pragma/runtime/messaging/event-bus";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import type { StoredReportAndOrderResponses } from "../calculate-stored-till.ts";
import type { ReportingServiceContext } from "../context.ts";
import { findDayParts } from "../queries/days.ts";
import { largeTillBytes } from "../threaded-till-report-calculator.ts";
import { checkDevices } from "./check-devices.ts";
import { checkTillFigures } from "./check-figures.ts";
import { computeDay, type TillOfDay } from "./compute-day.ts";
import type { TillDayFacts } from "./till-day-facts.ts";
import { maxDaysBetweenShifts, toDayContext, toTillOfDay } from "./update-days.ts";

type CheckServices = Pick<ReportingServiceContext, "db" | "log" | "calculator">;

const decompress = promisify(brotliDecompress);

/**
 * One small till at a time in each instance, so that dry runs leave the other threads to tills that are pushed, and one
 * large till, so that the dry runs of small tills do not wait for it.
 */
const calculationSemaphore = createKeyedSemaphore(1);
/** One till at a time of each location, so that a location cannot delay the dry runs of others by many of its own. */
const locationSemaphore = createKeyedSemaphore(1);
/** A request that has waited longer is not handled, because its sender has stopped waiting. */
const maxWaitMs = 15_000;

let droppedCheckCount = 0;

/** Returns how many checks this process dropped, because they had waited too long. */
export const countDroppedTillChecks = (): number => droppedCheckCount;

/** Calculates and checks a till for a push with `dryRun=true`, and stores nothing. */
export const tillCheckHandler: BusRequestHandler<CheckServices> = {
  topic: tillCheckTopic,
  async handle(services, text) {
    const receivedAt = Date.now();
    const request = tillCheckRequestSchema.parse(JSON.parse(text));
    const check = async () => {
      if (Date.now() - receivedAt > maxWaitMs) {
        droppedCheckCount += 1;
        throw new Error("The request has waited too long.");
      }
      return checkTill(services, request);
    };
    const { bodyBytes = largeTillBytes } = request;
    const size = bodyBytes < largeTillBytes ? "small" : "large";
    const result = await locationSemaphore.run(() => calculationSemaphore.run(check, size), request.locationId);
    return JSON.stringify(result);
  },
};

async function checkTill(services: CheckServices, request: TillCheckRequest): Promise<TillDryRun> {
  const { body, locationId, timeZone, tillId, version, hash } = request;
  const bytes = await decompress(Buffer.from(body, "base64"), { maxOutputLength: maxRequestBodyBytes });
  let report: StoredReportAndOrderResponses | null;
  try {
    report = await services.calculator.run({
      ...{ bytes, hash, version, tillId, locationId, timeZone },
      ...{ calculatedAt: new Date().toISOString(), creationTimes: new Map(), isCompressed: false },
    });
  } catch (error) {
    services.log.warn({ err: error, tillId, locationId }, "the report of a till that is not stored cannot be computed");
    const reason = toTillReportParkedReason(error instanceof PermanentEventError ? error.publicReason : undefined);
    return buildTillDryRunWithoutReport(request, reason);
  }
  if (!report) return buildTillDryRunWithoutReport(request, "training");
  return addTillToDay(services, report, request);
}

/** Returns the checks of a till, and its business day as it would be with the till. */
async function addTillToDay(
  { db }: CheckServices,
  report: StoredReportAndOrderResponses,
  { tillId, locationId }: TillCheckRequest,
): Promise<TillDryRun> {
  const { day, id: reportId, dayFacts } = report;
  const facts: TillDayFacts | null = dayFacts === null ? null : JSON.parse(dayFacts);
  const parts = await findDayParts(db.sql, { locationId, day }, maxDaysBetweenShifts);
  const stored = parts.reports.find((row) => row.tillId === tillId);
  const till: TillOfDay = { tillId, reportId, revision: (stored?.revision ?? 0) + 1, report, facts };
  const tills = [...parts.reports.filter((row) => row.tillId !== tillId).map(toTillOfDay), till].sort(compareStarts);
  const orderIds = new Set(report.orders.map(({ id }) => id));
  const context = toDayContext(
    {
      ...parts,
      reportCount: parts.reportCount + (stored ? 0 : 1),
      openShifts: parts.openShifts.filter((shift) => shift.tillId !== tillId),
      ordersWithoutTill: parts.ordersWithoutTill.filter(({ orderId }) => !orderIds.has(orderId)),
    },
    day,
  );
  const { content } = computeDay(tills, context);
  const deviceTills = tills.flatMap((each) => (each.facts ? [{ ...each.facts, tillId: each.tillId }] : []));
  const { checks } = checkDevices(deviceTills, context.earlierDevices, [], { onlyTillId: tillId });
  const [listed] = computeDay([till], { ...context, tillCount: 1 }).content.tills;
  return {
    ...{ tillId, locationId, isDryRun: true, reportState: "done", reportParkedReason: null },
    till: listed ?? null,
    reconciliation: facts ? [...checkTillFigures([{ tillId, facts }], []), ...checks] : [],
    day: { day, state: content.state, reasons: content.reasons, tillCount: content.tillCount },
  };
}

/** Sorts tills as `findDayParts` does. */
function compareStarts(one: TillOfDay, other: TillOfDay): number {
  const difference = Date.parse(one.report.startedAt) - Date.parse(other.report.startedAt);
  if (difference !== 0) return difference;
  return one.reportId < other.reportId ? -1 : 1;
}
