import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { integerQueryParameter } from "@pragma/contracts/pagination";
import { hasScope } from "@pragma/contracts/scopes";
import { BulkTillReprocessingStatus, ReprocessTillResponse } from "@pragma/contracts/till";
import { consumeDailyQuotasOrThrow } from "@pragma/runtime/admission/daily-quota";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import {
  getReadRestrictionLocationId,
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineTillIngestRoute, tillWriteRouteDefaults } from "../context.ts";
import { insertReprocessing, type ReprocessingStatusRow, reprocessingStatusColumns } from "../queries/reprocessings.ts";
import { requestTillReprocessing } from "../reprocess-tills.ts";
import { rejectDryRun } from "./dry-run-parameter.ts";
import { pendingReportHeaders, toTillFields } from "./till-response.ts";
import { tillPathParams } from "./tills.ts";

export const reprocessTillRoute = defineTillIngestRoute({
  method: "post",
  path: "/v1/tills/{id}/reprocess",
  operationId: "reprocessTill",
  ...tillWriteRouteDefaults,
  summary: "Reprocess a till",
  description:
    "Recomputes the report and orders of a till from its stored body, in the current time zone of its location. While the till is being reprocessed, " +
    "further requests return the same response and have no effect.",
  request: { params: tillPathParams },
  responses: { 200: { description: "The till was queued for reprocessing", schema: ReprocessTillResponse } },
  errors: ["till_not_found", "quota_exceeded"],
  async handle({ params, principal, services, context, audit, origin, url }) {
    rejectDryRun(url);
    const till = await requestTillReprocessing(services, {
      ...{ id: params.id, locationId: getReadRestrictionLocationId(principal) },
      ...{ author: principal, audit, context, quotas: services.quotasOf(principal.location) },
    });
    const headers = { location: `/v1/tills/${till.id}`, ...pendingReportHeaders(till) };
    return jsonResponse(200, { id: till.id, ...toTillFields(till, origin) }, headers);
  },
});

const maxReportVersion = 2 ** 31 - 1;

const reprocessTillsQuery = z
  .object({
    lteReportVersion: integerQueryParameter(z.int().min(0)).optional().meta({
      description:
        "Required unless `onlyOtherTimeZone` is `true`. Maximum version of the report calculation. Tills without a report (except training tills) and tills whose report has this version or a lower version are reprocessed. `0` selects only tills without a report.",
      type: "integer",
      minimum: 0,
      example: 1,
    }),
    onlyOtherTimeZone: z.literal("true").optional().meta({
      description:
        "Set to `true` to reprocess only tills that were computed in another time zone than the current one of their location, after the time zone was corrected. No other value is allowed. With this parameter, the job is for one location.",
    }),
    locationId: locationIdQueryParameter(
      "ID of the location whose tills are reprocessed. Defaults to the API key's location, or to all locations if the key has the scope `locations:any`.",
    ),
  })
  .check(({ value: { lteReportVersion, onlyOtherTimeZone }, issues }) => {
    if (lteReportVersion !== undefined || onlyOtherTimeZone) return;
    const message = "Is required. To select tills by their time zone instead, set onlyOtherTimeZone to true";
    issues.push({
      code: "custom",
      path: ["lteReportVersion"],
      message,
      input: lteReportVersion,
      params: { code: "required" },
    });
  });

/**
 * The daily quota of jobs of a location, whose tills do not count toward the quota of revisions. Without it, a location
 * could compute all its tills again and again, and so fill the event stream of all locations. Operators have no quota.
 */
const reprocessingQuota = { name: "reprocessings", maximum: 10, unit: "reprocessing jobs" };

export const reprocessTillsRoute = defineTillIngestRoute({
  method: "post",
  path: "/v1/tills/reprocess",
  operationId: "reprocessTills",
  ...tillWriteRouteDefaults,
  summary: "Reprocess tills",
  description:
    "Starts a background job that recomputes the reports and orders of the tills that the query parameters select. Use this operation after an update of the report calculation, a correction of the location's time zone, or an update of the time zone data of the API. Reports and orders are computed in the current time zone of the location. " +
    "To follow the progress of the job, get the reprocessing job by its ID.",
  request: { query: reprocessTillsQuery },
  responses: {
    202: {
      description: "The reprocessing job that was started, or an unfinished job that already includes the same tills",
      schema: BulkTillReprocessingStatus,
    },
  },
  errors: ["location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ query, principal, services, context, audit, url }) {
    rejectDryRun(url);
    const { db, locations, pollReprocessings, quotasOf } = services;
    const { lteReportVersion = maxReportVersion, onlyOtherTimeZone, locationId: requestedId } = query;
    const isForAllLocations =
      !onlyOtherTimeZone && requestedId === undefined && hasScope(principal.scopes, "locations:any");
    const selectedId = isForAllLocations ? null : resolveAuthorizedLocationId(principal, requestedId);
    const row = {
      id: randomUUID(),
      locationId: selectedId,
      lteReportVersion: Math.min(lteReportVersion, maxReportVersion),
      timeZone: onlyOtherTimeZone && selectedId ? (await locations.getById(selectedId, context)).timeZone : null,
      keyId: principal.keyId,
      consumer: principal.consumer,
    };
    const reprocessing = await db.transaction(async (tx) => {
      const found = await insertReprocessing(tx, db, row);
      const { id, locationId } = found;
      if (id === row.id) {
        if (locationId !== null && !hasScope(principal.scopes, "locations:any")) {
          const [{ orders }] = await tx<[{ orders: number }]>`
            select coalesce(sum(order_count), 0) as orders from tills where location_id = ${locationId}`;
          await consumeDailyQuotasOrThrow(tx, locationId, [
            { quota: reprocessingQuota, amount: 1 },
            { quota: quotasOf(principal.location).orders, amount: orders },
          ]);
        }
        await publishAuditEvent(tx, audit, {
          ...{ action: "tills.reprocessed", locationId, target: { type: "reprocessing", id } },
          details: { lteReportVersion: row.lteReportVersion, ...(row.timeZone && { timeZone: row.timeZone }) },
        });
      }
      return found;
    });
    pollReprocessings();
    const headers = { location: `/v1/tills/reprocess/${reprocessing.id}`, ...unfinishedHeaders(reprocessing) };
    return jsonResponse(202, reprocessing, headers);
  },
});

export const getReprocessingRoute = defineTillIngestRoute({
  method: "get",
  path: "/v1/tills/reprocess/{id}",
  operationId: "getReprocessing",
  ...tillWriteRouteDefaults,
  summary: "Get a reprocessing job",
  description: "Returns how many tills a reprocessing job includes, and how many of them have been queued so far.",
  request: {
    params: z.object({
      id: z.guid().meta({ description: "ID of the reprocessing job, as returned when the job was started" }),
    }),
  },
  responses: { 200: { description: "The reprocessing job, with its progress", schema: BulkTillReprocessingStatus } },
  errors: ["reprocessing_not_found"],
  async handle({ params, principal, services: { db } }) {
    const locationId = getReadRestrictionLocationId(principal);
    const { sql } = db;
    const [row] = await sql<ReprocessingStatusRow[]>`
      select ${reprocessingStatusColumns(sql)} from till_reprocessings where id = ${params.id}`;
    if (!row || (locationId !== null && row.locationId !== locationId)) {
      throw new ApiError("reprocessing_not_found", { detail: `This location has no reprocessing job ${params.id}.` });
    }
    return jsonResponse(200, row, { "cache-control": "no-store", ...unfinishedHeaders(row) });
  },
});

function unfinishedHeaders({ finishedAt }: ReprocessingStatusRow): Record<string, string> {
  return finishedAt ? {} : { "retry-after": "2" };
}
