import { promisify } from "node:util";
import { brotliDecompress } from "node:zlib";
import {
  buildTillDryRunWithoutReport,
  type TillDryRun,
  type TillDryRunRequest,
  toTillReportParkedReason,
} from "@pragma/contracts/till-dry-run";
import { maxRequestBodyBytes } from "@pragma/runtime/admission/request-body-memory";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import type { CalculatedTill } from "../calculation-thread.ts";
import type { CalculatingContext } from "../till-calculator.ts";
import { previewDayWithTill } from "./preview-day-with-till.ts";
import { findTillWarnings } from "./till-warnings.ts";

export type TillDryRunServices = Pick<CalculatingContext, "db" | "log" | "calculator">;

const decompress = promisify(brotliDecompress);

/** Returns the result of a dry run: the checks of the till, or the reason why its report cannot be computed. */
export async function computeTillDryRun(services: TillDryRunServices, request: TillDryRunRequest): Promise<TillDryRun> {
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
