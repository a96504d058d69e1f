import { AuditEvent, auditActionNames, auditActorTypes } from "@pragma/contracts/audit";
import {
  checkSinceIsNotAfterUntil,
  dayOrInstantQueryParameter,
  paginatedSchema,
  paginationQueryShape,
} from "@pragma/contracts/pagination";
import type { Principal } from "@pragma/contracts/principal";
import { computeStartOfDay } from "@pragma/contracts/time-zone";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { streamAfterFirstChunk } from "@pragma/runtime/http/route-response";
import { getReadRestrictionLocationId, locationIdQueryParameter } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineAccountsRoute } from "../context.ts";
import { resolveListedLocationId } from "../permissions.ts";
import { buildAuditEventListSql, streamAuditEventLines } from "../queries/audit-events.ts";
import { findLocationRef } from "../queries/locations.ts";

const actorTypesWithoutKey = auditActorTypes.filter((type) => type !== "key");

const timeZoneDescription =
  "Days are in the time zone of the location whose entries are returned, or in UTC if entries of all locations are returned.";

const auditFilterShape = {
  since: dayOrInstantQueryParameter(
    `Returns only changes that were made on or after this day, or at or after this date-time. ${timeZoneDescription}`,
  ),
  until: dayOrInstantQueryParameter(
    `Returns only changes that were made on or before this day, or at or before this date-time. ${timeZoneDescription}`,
  ),
  action: z
    .enum(auditActionNames)
    .optional()
    .meta({ description: "Returns only changes with this action.", example: "key.created" }),
  actor: z
    .union([z.guid(), z.enum(actorTypesWithoutKey)], {
      error: `Must be the ID of an API key, or one of: ${actorTypesWithoutKey.join(", ")}`,
    })
    .optional()
    .meta({
      description: `Returns only changes by this actor: the ID of an API key, ${actorTypesWithoutKey.map((type) => `\`${type}\``).join(" or ")}.`,
      example: "5f0f9c0e-3a57-4a2e-8a55-7d4b7b4b1d33",
    }),
  locationId: locationIdQueryParameter(
    "ID of the location whose entries are returned. Defaults to all entries if the API key has the scope `locations:any`, and otherwise to the location of the key.",
  ),
};

const auditFilterQuery = z.object(auditFilterShape).check(checkSinceIsNotAfterUntil);
const auditListQuery = z.object({ ...auditFilterShape, ...paginationQueryShape }).check(checkSinceIsNotAfterUntil);

/** Returns the filter of a request, and the location whose view the principal gets. */
async function resolveAuditFilter(query: z.output<typeof auditFilterQuery>, principal: Principal, sql: SqlClient) {
  const readerLocationId = getReadRestrictionLocationId(principal);
  const { since, until, action = null, actor = null } = query;
  const locationId = resolveListedLocationId(principal, query.locationId);
  const timeZone = (locationId !== null && (await findLocationRef(sql, { id: locationId }))?.timeZone) || "UTC";
  return {
    since: since === undefined ? null : "day" in since ? computeStartOfDay(since.day, timeZone) : since.instant,
    until:
      until === undefined
        ? null
        : "day" in until
          ? { instant: computeStartOfDay(until.day, timeZone, 1), isIncluded: false }
          : { instant: until.instant, isIncluded: true },
    ...{ action, actor, locationId, readerLocationId },
  };
}

const auditRouteDefaults = { tag: "Audit log", audience: "operator", scope: "audit:read" } as const;

const visibleEntriesDescription =
  "Without the scope `locations:any`, only the entries about the API key's location are returned. Entries about changes in other parts of the API appear within seconds.";

export const listAuditEventsRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/audit",
  operationId: "listAuditEvents",
  ...auditRouteDefaults,
  summary: "List audit events",
  description: `Returns the entries of the audit log, newest first: who created, changed or deleted API keys, consumers, locations, recipients and webhooks, who started exports, replays, reprocessings and erasures, and which commands the operator ran. Entries cannot be changed. ${visibleEntriesDescription}`,
  request: { query: auditListQuery },
  responses: { 200: { description: "A page of entries, newest first", schema: paginatedSchema(AuditEvent) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const filter = await resolveAuditFilter(query, principal, db.sql);
    const list = buildAuditEventListSql(db.sql, filter);
    return queryNewestRowsPageResponse({ query, ...filter, principal, url, origin }, db.sql, list);
  },
});

export const exportAuditEventsRoute = defineAccountsRoute({
  method: "get",
  path: "/v1/audit/export",
  operationId: "exportAuditEvents",
  ...auditRouteDefaults,
  summary: "Export audit events",
  description: `Returns all entries of the audit log that match the filters as JSON lines, newest first: one entry per line, in the format of the list. ${visibleEntriesDescription}`,
  request: { query: auditFilterQuery },
  responses: {
    200: {
      description: "The entries as JSON lines, newest first",
      contentType: "application/x-ndjson",
      schema: z.string().meta({ description: "One `AuditEvent` per line" }),
      example: `${JSON.stringify(AuditEvent.meta()?.example)}\n`,
    },
  },
  errors: ["location_forbidden"],
  async handle({ query, principal, services: { db } }) {
    const filter = await resolveAuditFilter(query, principal, db.sql);
    const body = await streamAfterFirstChunk(streamAuditEventLines(db.sql, filter));
    const headers = { "content-type": "application/x-ndjson; charset=utf-8", "cache-control": "no-store" };
    return { status: 200, body, headers, streamMemoryBytes };
  },
});

/** The memory of two batches. It limits concurrent exports, so that key lookups find free database connections. */
const streamMemoryBytes = 1024 * 1024;
