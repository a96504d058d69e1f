import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import {
  buildTillDryRunWithoutReport,
  type TillDryRun,
  type TillDryRunRequest,
  tillDryRunRequestSchema,
  tillDryRunTopic,
  toTillReportParkedReason,
} from "@pragma/contracts/till-dry-run";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { maxRequestBodyBytes } from "@pragma/runtime/admission/request-body-memory";
import type { BusRequestHandler } from "@pragma/runtime/messaging/bus-requests";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import type { CalculatedTill } from "../calculation-thread.ts";
import type { ReportingContext } from "../context.ts";
import { largeTillBytes } from "../till-calculator.ts";
import { previewDayWithTill } from "./preview-day-with-till.ts";
import { findTillWarnings } from "./till-warnings.ts";

type TillDryRunServices = Pick<ReportingContext, "db" | "log" | "calculator">;

/** Separate, so that the dry runs of small tills do not wait for a large one. */
const calculations = {
  small: new Admission(locationLimits.calculatedDryRuns),
  large: new Admission(locationLimits.calculatedDryRuns),
};

/** Returns how many dry runs this process dropped, because they had waited too long. */
export const countDroppedTillDryRuns = (): number =>
  calculations.small.rejectedCount + calculations.large.rejectedCount;

/** Replies with the result of a push with `dryRun=true`, of which nothing is stored. */
export const tillDryRunHandler: BusRequestHandler<TillDryRunServices> = {
  topic: tillDryRunTopic,
  async handle(services, text) {
    const request = tillDryRunRequestSchema.parse(JSON.parse(text));
    const { locationId, bodyBytes } = request;
    const queue = bodyBytes < largeTillBytes ? calculations.small : calculations.large;
    return JSON.stringify(await queue.run(() => computeTillDryRun(services, request), locationId));
  },
};

const decompress = promisify(brotliDecompress);

/** Returns the result of a dry run: the checks of the till, or the reason why its report cannot be computed. */
async function computeTillDryRun(services: TillDryRunServices, request: TillDryRunRequest): Promise<TillDryRun> {
  const { body, locationId, timeZone, tillId, version, hash } = request;
  const bytes = await decompress(Buffer.from(body, "base64"), { maxOutputLength: maxRequestBodyBytes });
  let report: CalculatedTill | null;
  try {
    report = await services.calculator.run({
      ...{ bytes, hash, version, tillId, locationId, timeZone },
      ...{ calculatedAt: new Date().toISOString(), creationTimes: new Map(), isStored: false },
    });
  } catch (error) {
    services.log.warn({ err: error, tillId, locationId }, "the report of a till that is not stored cannot be computed");
    const reason = toTillReportParkedReason(error instanceof PermanentEventError ? error.publicReason : undefined);
    return buildTillDryRunWithoutReport(request, reason);
  }
  if (!report) return buildTillDryRunWithoutReport(request, "training");
  const checked = await previewDayWithTill(services.db, { tillId, locationId }, report);
  const warnings = findTillWarnings(JSON.parse(report.v2));
  return {
    ...{ tillId, locationId, isDryRun: true, reportState: "done", reportParkedReason: null },
    ...checked,
    warnings,
  };
}
