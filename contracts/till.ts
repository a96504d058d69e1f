import { object, z } from "zod";
import { field } from "./fields.ts";
import { posApplicationNameSchema } from "./pos-application.ts";
import { computeTillReportId } from "./till-report-id.ts";

const tillIdExample = "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
const reportIdExample = computeTillReportId(tillIdExample);
const reportExample = {
  reportId: reportIdExample,
  reportUrl: `https://api.pragma.example/v2/reports/${reportIdExample}`,
  reportState: "pending",
  reportParkedReason: null,
} as const;
const tillExample = {
  id: tillIdExample,
  createdAt: "2026-05-30T00:04:11.000Z",
  updatedAt: "2026-05-30T00:04:11.000Z",
  locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
  application: "POPINA",
  serverId: null,
  objectUrl: `https://api.pragma.example/v1/tills/${tillIdExample}/object`,
  ...reportExample,
} as const;

/** Why the report of a till cannot be computed at present. */
export const tillReportParkedReasons = {
  too_large: "the till is too large",
  body_missing: "the stored body of the till is missing",
  calculation_failed: "the calculation failed",
} as const;

export type TillReportParkedReason = keyof typeof tillReportParkedReasons;

const tillReportShape = {
  reportId: field.nullableUuid(
    "ID of the report. It is known before the report is computed, and never changes. Null for a till in training mode, which has no report.",
  ),
  reportUrl: field.nullableUrl(
    "URL of the report. Returns 404 until the report is computed. Null for a till in training mode.",
  ),
  reportState: z.enum(["pending", "done", "parked", "training"]).meta({
    description:
      "`pending`: the report and the orders of the current body are being computed, and the previous report, if there is one, is still returned. `done`: they are available. `parked`: they cannot be computed, as `reportParkedReason` states; the operator was notified. `training`: a till in training mode has no report.",
  }),
  reportParkedReason: field.nullableText(
    `Why the report cannot be computed: ${Object.entries(tillReportParkedReasons)
      .map(([reason, text]) => `\`${reason}\` (${text})`)
      .join(" or ")}. New reasons can be added. Null unless \`reportState\` is \`parked\`.`,
  ),
};

export const TillWithBodyUrl = object({
  id: field.uuid("ID of the till: a UUID assigned by the point of sale"),
  createdAt: field.dateTime("When the till was first received"),
  updatedAt: field.dateTime("When the body of the till last changed"),
  locationId: field.uuid("ID of the location"),
  application: posApplicationNameSchema,
  serverId: z.int().min(1).nullable().meta({
    description: "ID of the till in the legacy backoffice; null if the till does not come from a legacy backoffice",
  }),
  objectUrl: field.url(
    "URL of the body of the till as it was last pushed, except for personal data that has since been erased",
  ),
  ...tillReportShape,
}).meta({
  id: "Till",
  description: "A stored till, with its location, the URL of its body and the state of its report",
  example: { ...tillExample, reportState: "done" },
});

export type TillWithBodyUrl = z.infer<typeof TillWithBodyUrl>;
export type TillReportState = TillWithBodyUrl["reportState"];

export const PushTillResponse = TillWithBodyUrl.extend({
  tillId: field.uuid("ID of the till, the same as `id`"),
}).meta({
  id: "PushedTill",
  description: "A till that was accepted, with its location, the URL of its body and the state of its report",
  example: { ...tillExample, tillId: tillIdExample },
});

export type PushTillResponse = z.infer<typeof PushTillResponse>;

const objectUrl = TillWithBodyUrl.shape.objectUrl;

export const ReplaceTillResponse = object({
  tillId: field.uuid("ID of the replaced till"),
  objectUrl,
  ...tillReportShape,
}).meta({
  id: "ReplacedTill",
  description: "A till whose body was replaced",
  example: { tillId: tillIdExample, objectUrl: tillExample.objectUrl, ...reportExample },
});

export const ReprocessTillResponse = object({ id: field.uuid("ID of the till"), objectUrl, ...tillReportShape }).meta({
  id: "ReprocessedTill",
  description: "A till whose report and orders are being computed again",
  example: { id: tillIdExample, objectUrl: tillExample.objectUrl, ...reportExample },
});

export const BulkTillReprocessingStatus = object({
  id: field.uuid("ID of the reprocessing job"),
  locationId: field.nullableUuid("ID of the location whose tills are reprocessed; null for all locations"),
  lteReportVersion: field.count(
    "Maximum version of the report calculation. Tills without a report (except training tills) and tills whose report has this version or a lower version are reprocessed.",
  ),
  onlyOtherTimeZone: field.boolean(
    "Whether the job includes only tills that were computed in another time zone than the location has",
  ),
  total: field.count("Number of tills to reprocess, counted when the job was created"),
  done: field.count("Number of tills that have been queued for reprocessing so far"),
  createdAt: field.dateTime("When the job was created"),
  finishedAt: field.nullableDateTime("When the job finished; null if the job has not finished"),
}).meta({
  id: "Reprocessing",
  description: "A background job that reprocesses tills, with its progress",
  example: {
    id: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
    locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
    lteReportVersion: 1,
    onlyOtherTimeZone: false,
    total: 365,
    done: 200,
    createdAt: "2026-05-30T00:04:11.000Z",
    finishedAt: null,
  },
});

export type BulkTillReprocessingStatus = z.infer<typeof BulkTillReprocessingStatus>;
