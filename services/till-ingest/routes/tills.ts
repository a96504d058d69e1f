import { DateTime } from "@pragma/contracts/date-time";
import { ApiError } from "@pragma/contracts/errors";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { PushedTill, ReplacedTill, Till } from "@pragma/contracts/till";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { newestRowsPageResponse } from "@pragma/runtime/http/page-response";
import {
  conditionalJsonResponse,
  conditionalJsonResponseByContent,
  jsonResponse,
  notModifiedResponse,
} from "@pragma/runtime/http/route-response";
import {
  locationIdQueryParam,
  resolveLocationId,
  resolveLocationRef,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { acceptTill, replaceTill } from "../accept-till.ts";
import { defineRoute, tillRoute } from "../context.ts";
import { type TillRow, tillListQuery } from "../queries/tills.ts";
import { requireTill, resolveReplacedTillLocation } from "../resolve-till-location.ts";
import { tillRequestBody } from "../validation/till-body-reader.ts";
import { pushTillResponse, tillResponse } from "./till-response.ts";

/** The path of whatever is about one till. */
export const tillParams = z.object({ id: z.guid().meta({ description: "Id of the till" }) });

export const pushTillV2 = defineRoute({
  method: "post",
  path: "/v2/tills/",
  operationId: "pushTillV2",
  ...tillRoute,
  summary: "Push a till",
  description:
    "Accepts the till of a closed shift. Its report and orders can be read moments later. " +
    "Pushing the same till again, byte for byte, is answered alike and changes nothing, so a push whose answer was lost can be repeated. " +
    "The body may be sent with gzip, and be 50 MB large at most after inflating.",
  request: {
    query: z.object({
      locationId: locationIdQueryParam(
        "The location that the till belongs to: the key's own, unless the key may act for any",
      ),
    }),
    body: tillRequestBody("V2", TillV2),
  },
  responses: {
    201: { description: "The till was accepted", schema: PushedTill },
    200: { description: "The same till was accepted before", schema: PushedTill },
  },
  errors: ["location_forbidden", "location_not_found", "till_conflict", "quota_exceeded"],
  async handle({ body: till, query, principal, services, context, origin }) {
    const location = await resolveLocationRef(principal, query.locationId, services.locations, context);
    const accepted = await acceptTill(services, { location, till, principal, context });
    return pushTillResponse(accepted, { origin, context });
  },
});

export const replaceTillRoute = defineRoute({
  method: "put",
  path: "/v1/tills/{id}",
  operationId: "replaceTill",
  ...tillRoute,
  summary: "Replace a till",
  description:
    "Puts another body, in either format, in the place of a till's. Its report is made again and keeps its id; orders " +
    "that the new body does not have are gone. Earlier bodies are kept. The same bytes again change nothing.",
  request: {
    params: tillParams,
    body: { ...tillRequestBody("either", z.union([TillV2, TillV1])), example: tillV2Example },
  },
  responses: { 200: { description: "The till was replaced", schema: ReplacedTill } },
  errors: ["till_not_found", "location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ params, body: till, principal, services, context, origin }) {
    const id = params.id.toLowerCase();
    if (till.facts.tillId !== id) {
      const message = `must be the id of the address, ${id}; got ${till.facts.tillId}`;
      const path = till.facts.format === "V1" ? "tillJson.client_id" : "id";
      throw new ApiError("invalid_request", { issues: [{ in: "body", path, code: "mismatch", message }] });
    }
    const location = await resolveReplacedTillLocation(principal, till.facts, services, context);
    const replaced = await replaceTill(services, { location, till, principal, context });
    return jsonResponse(200, { tillId: replaced.id, objectUrl: tillResponse(replaced, origin).objectUrl });
  },
});

const listTillsQuery = z.object({
  sinceDate: DateTime.meta({
    description: "Tills that came in at this time or later, with an offset or Z",
    example: "2026-05-29T00:00:00Z",
  }),
  ...paginationQueryShape,
  locationId: locationIdQueryParam(),
});

const readTillRouteDefaults = { tag: "Tills", audience: "public", scope: "tills:read" } as const;

export const listTills = defineRoute({
  method: "get",
  path: "/v1/tills/",
  operationId: "listTills",
  ...readTillRouteDefaults,
  summary: "List tills",
  description: "The tills of the location that came in since a time, of both formats, newest first.",
  request: { query: listTillsQuery },
  responses: { 200: { description: "A page of tills", schema: paginatedSchema(Till) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const { sql } = services.db;
    const list = tillListQuery(sql, {
      locationId: resolveLocationId(principal, query.locationId),
      since: query.sinceDate,
    });
    return newestRowsPageResponse({ query, url, origin }, sql, {
      ...list,
      toItem: (till: TillRow) => tillResponse(till, origin),
    });
  },
});

export const getTill = defineRoute({
  method: "get",
  path: "/v1/tills/{id}",
  operationId: "getTill",
  ...readTillRouteDefaults,
  summary: "Get a till",
  description:
    "Whose the till is, when it came in, and where its body is read. Pushed as V1 or V2 makes no difference.",
  request: { params: tillParams },
  responses: { 200: { description: "The till", schema: Till }, 304: { description: "The client has it already" } },
  errors: ["till_not_found"],
  async handle({ params, principal, services, origin, header }) {
    const till = await requireTill(services, { id: params.id, principal });
    return conditionalJsonResponseByContent(JSON.stringify(tillResponse(till, origin)), {
      ifNoneMatch: header("if-none-match"),
    });
  },
});

export const getTillObject = defineRoute({
  method: "get",
  path: "/v1/tills/{id}/object",
  operationId: "getTillObject",
  ...readTillRouteDefaults,
  summary: "Get the body of a till",
  description: "The exact bytes that were pushed last for this till, after inflating. The entity tag is their SHA-256.",
  request: { params: tillParams },
  responses: {
    200: {
      description: "The body, in the format that it was pushed in",
      schema: z.record(z.string(), z.unknown()).meta({ description: "A till as it was pushed: V1 or V2" }),
      example: tillV2Example,
    },
    304: { description: "The client has it already" },
  },
  errors: ["till_not_found"],
  async handle({ params, principal, services, header }) {
    const till = await requireTill(services, { id: params.id, principal });
    const tag = { etag: till.hash, ifNoneMatch: header("if-none-match") };
    const notModified = notModifiedResponse(tag);
    if (notModified) return notModified;
    const { body, size } = await services.objects.stream(till.objectKey);
    return conditionalJsonResponse(body, tag, { "content-type": "application/json", "content-length": String(size) });
  },
});
