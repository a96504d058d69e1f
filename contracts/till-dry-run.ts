import { array, object, z } from "zod";
import { Day, DayCheck, DayTill } from "./day.ts";
import { dayExample } from "./examples/day.ts";
import { enumOf, field, listDescriptions } from "./fields.ts";
import { type TillReportParkedReason, TillWithBodyUrl, tillReportParkedReasons } from "./till.ts";

/** The topic of the NATS requests with which till-ingest lets reporting compute a dry run. */
export const tillDryRunTopic = "reporting.dry-run-till";

export const tillDryRunRequestSchema = object({
  locationId: z.guid(),
  timeZone: z.string(),
  tillId: z.guid(),
  version: z.enum(["V1", "V2"]),
  /** The SHA-256 hash of the body. */
  hash: z.string(),
  /** The body, compressed with Brotli, as base64. */
  body: z.string(),
  /** The size of the body before compression. */
  bodyBytes: z.int().min(0),
});

export type TillDryRunRequest = z.infer<typeof tillDryRunRequestSchema>;

/** The types of warnings about a till, with their meaning. */
const tillWarningCodes = {
  movement_sign: "the sign of a financial movement contradicts its type",
  other_currency: "a row names another currency than that of the location",
  tax_rate_unit: "a tax rate is probably not in percent",
} as const;

export const TillWarning = object({
  path: field.text("Path of the value in the body, or of the first such value"),
  code: enumOf(tillWarningCodes).meta({
    description: `Type of the warning. ${listDescriptions(tillWarningCodes)} New types can be added.`,
  }),
  message: field.text("What is probably wrong, and how to correct it"),
}).meta({
  id: "TillWarning",
  description: "A value of a till that a push accepts, but that is probably wrong",
  example: {
    path: "orderList[0].productRowList[0].taxRate",
    code: "tax_rate_unit",
    message:
      "Tax rates of tills are in percent, so that 1000 means 1000%. The rate is probably in hundredths of a percent: to state 10%, send 10.",
  },
});

export type TillWarning = z.infer<typeof TillWarning>;

const [tillExample] = dayExample.tills;

/** The result of a push with `dryRun=true`. */
export const TillDryRun = object({
  tillId: field.uuid("ID of the till"),
  locationId: field.uuid("ID of the location of the till"),
  isDryRun: z.literal(true).describe("Always true: nothing was stored"),
  reportState: TillWithBodyUrl.shape.reportState.exclude(["pending"]).meta({
    description:
      "The state that the report would have. `done`: it can be computed. `parked`: it cannot be computed, as `reportParkedReason` states. `training`: a till in training mode has no report.",
  }),
  reportParkedReason: TillWithBodyUrl.shape.reportParkedReason,
  warnings: array(TillWarning).describe(
    "Values that a push accepts, but that are probably wrong. Empty if nothing was found.",
  ),
  till: DayTill.nullable().describe("The till as its business day would list it; null unless `reportState` is `done`"),
  reconciliation: array(DayCheck).describe(
    "The checks of the figures of this till, and of its report number and shift among those of its device. Empty unless `reportState` is `done`.",
  ),
  day: Day.pick({ day: true, state: true, reasons: true, tillCount: true }).nullable().meta({
    id: "DayDryRun",
    description:
      "The business day of the till as it would be after the push, and after the end of the till's shift; null unless `reportState` is `done`",
  }),
}).meta({
  id: "TillDryRun",
  description: "What a push of the till would result in. Nothing was stored.",
  example: {
    ...{ tillId: tillExample?.tillId, locationId: dayExample.locationId, isDryRun: true },
    ...{ reportState: "done", reportParkedReason: null, warnings: [], till: tillExample },
    reconciliation: dayExample.reconciliation,
    day: { day: dayExample.day, state: "closed", reasons: [], tillCount: 1 },
  },
});

/**
 * Also the reply of reporting to till-ingest. Its warnings come from the report, and till-ingest adds those of the body that it
 * validates.
 */
export type TillDryRun = z.infer<typeof TillDryRun>;

/** Returns the result for a till that has no report. */
export function buildTillDryRunWithoutReport(
  { tillId, locationId }: Pick<TillDryRun, "tillId" | "locationId">,
  reason: "training" | TillReportParkedReason,
): TillDryRun {
  const isTraining = reason === "training";
  return {
    ...{ tillId, locationId, isDryRun: true, reportState: isTraining ? "training" : "parked" },
    ...{ reportParkedReason: isTraining ? null : reason, till: null, reconciliation: [], warnings: [], day: null },
  };
}

/** Returns a known reason, so that an unknown error is not shown to clients. */
export function toTillReportParkedReason(reason: string | undefined): TillReportParkedReason {
  return reason !== undefined && Object.hasOwn(tillReportParkedReasons, reason)
    ? (reason as TillReportParkedReason)
    : "calculation_failed";
}
