import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { integerQueryParameter } from "@pragma/contracts/pagination";
import { hasScope } from "@pragma/contracts/scopes";
import { ReprocessedTill, TillReprocessingJob } from "@pragma/contracts/till";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import {
  getReadableLocationId,
  locationIdQueryParam,
  resolveLocationId,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineRoute, tillRoute } from "../context.ts";
import { findOrInsertReprocessing, findReprocessing, type ReprocessingRow } from "../queries/reprocessings.ts";
import { reprocessTill } from "../reprocess-tills.ts";
import { tillResponse } from "./till-response.ts";
import { tillParams } from "./tills.ts";

export const reprocessTillRoute = defineRoute({
  method: "post",
  path: "/v1/tills/{id}/reprocess",
  operationId: "reprocessTill",
  ...tillRoute,
  summary: "Reprocess a till",
  description:
    "Has the report and orders of a till made again from the body that it has. While an earlier reprocessing of the till " +
    "is waiting, another request starts no second one and gets the same reply.",
  request: { params: tillParams },
  responses: { 200: { description: "The till is processed again", schema: ReprocessedTill } },
  errors: ["till_not_found", "quota_exceeded"],
  async handle({ params, principal, services, context, origin }) {
    const till = await reprocessTill(services, {
      id: params.id,
      locationId: getReadableLocationId(principal),
      by: principal,
      context,
    });
    return jsonResponse(200, { id: till.id, objectUrl: tillResponse(till, origin).objectUrl });
  },
});

/** No version is higher than the database has numbers for it. */
const maxReportVersion = 2 ** 31 - 1;

const reprocessTillsQuery = z.object({
  lteReportVersion: integerQueryParameter(z.int().min(0)).meta({
    description:
      "Tills whose report was made by this version of the calculation or a lower one; 0: those that have none",
    type: "integer",
    minimum: 0,
    example: 1,
  }),
  locationId: locationIdQueryParam(
    "The location of the key. A key that may act for any, and names none, means the tills of all",
  ),
});

export const reprocessTillsRoute = defineRoute({
  method: "post",
  path: "/v1/tills/reprocess",
  operationId: "reprocessTills",
  ...tillRoute,
  summary: "Reprocess many tills",
  description:
    "Has the reports made again that an older version of the calculation made, beside everything else. " +
    "Ask for the reprocessing by its id to see how far it is.",
  request: { query: reprocessTillsQuery },
  responses: { 202: { description: "The tills will be processed again", schema: TillReprocessingJob } },
  errors: ["location_forbidden"],
  async handle({ query: { lteReportVersion, locationId }, principal, services: { db, wakeReprocessing } }) {
    const isForAll = locationId === undefined && hasScope(principal.scopes, "locations:any");
    const row = {
      id: randomUUID(),
      locationId: isForAll ? null : resolveLocationId(principal, locationId),
      lteReportVersion: Math.min(lteReportVersion, maxReportVersion),
      keyId: principal.keyId,
      consumer: principal.consumer,
    };
    const reprocessing = await db.transaction((tx) => findOrInsertReprocessing(tx, db, row));
    wakeReprocessing();
    return jsonResponse(202, reprocessingResponse(reprocessing), {
      location: `/v1/tills/reprocess/${reprocessing.id}`,
    });
  },
});

export const getReprocessing = defineRoute({
  method: "get",
  path: "/v1/tills/reprocess/{id}",
  operationId: "getReprocessing",
  ...tillRoute,
  summary: "See how far a reprocessing is",
  description: "How many tills are meant, and how many were handed on to be processed again.",
  request: { params: z.object({ id: z.guid().meta({ description: "Id of the reprocessing" }) }) },
  responses: { 200: { description: "The reprocessing", schema: TillReprocessingJob } },
  errors: ["reprocessing_not_found"],
  async handle({ params, principal, services: { db } }) {
    const locationId = getReadableLocationId(principal);
    const row = await findReprocessing(db.sql, params.id);
    if (!row || (locationId !== null && row.locationId !== locationId)) {
      throw new ApiError("reprocessing_not_found", { detail: `This location has no reprocessing ${params.id}.` });
    }
    return jsonResponse(200, reprocessingResponse(row), { "cache-control": "no-store" });
  },
});

/** A reprocessing as replies show it. */
function reprocessingResponse(row: ReprocessingRow): TillReprocessingJob {
  return {
    id: row.id,
    locationId: row.locationId,
    lteReportVersion: row.lteReportVersion,
    total: row.total,
    done: row.done,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  };
}
