import { RequestDateTime } from "@pragma/contracts/date-time";
import { ApiError, type ApiErrorCode, appendReceivedValue } from "@pragma/contracts/errors";
import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { PushTillResponse, ReplaceTillResponse, TillWithBodyUrl } from "@pragma/contracts/till";
import { TillDryRun } from "@pragma/contracts/till-dry-run";
import { TillV1 } from "@pragma/contracts/till-v1";
import { TillV2 } from "@pragma/contracts/till-v2";
import { maxRequestBodyBytes } from "@pragma/runtime/admission/request-body-memory";
import type { RequestBodyParser, RouteHandlerInput } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { createNotModifiedResponse, createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import {
  locationIdQueryParameter,
  resolveAuthorizedLocationId,
  resolveRequestedLocation,
} from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineTillIngestRoute, type TillIngestServiceContext, tillWriteRouteDefaults } from "../context.ts";
import { dryRunTill } from "../dry-run-till.ts";
import { type TillRow, tillColumns } from "../queries/tills.ts";
import { requireReadableTill, resolveLegacyLocation, resolveReplacedLocation } from "../resolve-till-location.ts";
import { replaceTillBody, storePushedTill } from "../store-pushed-till.ts";
import type { AcceptedTillBodyFormat, TillMetadataWithBodyBytes } from "../validation/parse-till-body.ts";
import { rejectDryRun, requireClearDryRun } from "./dry-run-parameter.ts";
import { createTillBodyResponse } from "./till-body-response.ts";
import { pendingReportHeaders, toTillFields, toTillResponse } from "./till-response.ts";

/** Returns a parser of till bodies. Large bodies are parsed in worker threads, so that other requests do not wait. */
function createTillRequestBodyParser(
  format: AcceptedTillBodyFormat,
  schema: z.ZodType,
): RequestBodyParser<TillMetadataWithBodyBytes, TillIngestServiceContext> {
  return {
    schema,
    maxBytes: maxRequestBodyBytes,
    async parse(body, { reader }, sender) {
      const { result, bytes } = await reader.read(body, format, sender);
      return "issues" in result ? result : { value: { ...result, bytes } };
    },
  };
}

export const tillPathParams = z.object({ id: z.guid().meta({ description: "ID of the till" }) });

const dryRunQueryParameter = z
  .enum(["true", "false"])
  .transform((text) => text === "true")
  .optional()
  .meta({
    description:
      "With `true`, the till is validated, calculated and checked as in a push, and nothing is stored: no till, no event, and no `Idempotency-Key`. The response has status 200.",
    type: "boolean",
  });

const dryRunDescription =
  "With `dryRun=true`, nothing is stored. The response states the checks of the till, and the state that its business day would have. Dry runs have daily quotas of their own.";
type PushTillInput = Pick<
  RouteHandlerInput<undefined, undefined, TillMetadataWithBodyBytes, TillIngestServiceContext>,
  "body" | "principal" | "services" | "context" | "origin" | "url"
> & { query: { dryRun?: boolean | undefined; locationId?: string | undefined } };

const pushRouteDefaults = {
  method: "post",
  ...tillWriteRouteDefaults,
  isDryRun: ({ dryRun }: PushTillInput["query"]) => dryRun === true,
  responses: {
    201: { description: "The till was created", schema: PushTillResponse },
    200: {
      description: "The same till already existed, or the result of a push with `dryRun=true`",
      schema: z.union([PushTillResponse, TillDryRun]),
      example: PushTillResponse.meta()?.example,
    },
  },
  errors: ["location_forbidden", "location_not_found", "till_conflict", "quota_exceeded"] as ApiErrorCode[],
  async handle({ body: till, query, principal, services, context, origin, url }: PushTillInput) {
    requireClearDryRun(url);
    const { legacyLocation } = till.metadata;
    const location = legacyLocation
      ? await resolveLegacyLocation(principal, legacyLocation, services.locations, context)
      : await resolveRequestedLocation(principal, query.locationId, services.locations, context);
    if (query.dryRun) return jsonResponse(200, await dryRunTill(services, { location, till, context }));
    const { till: stored, isNew } = await storePushedTill(services, { location, till, principal, context });
    context.addLogFields({ tillId: stored.id, revision: stored.revision, bodyBytes: stored.size, isNew });
    const response: PushTillResponse = { ...toTillResponse(stored, origin), tillId: stored.id };
    return jsonResponse(isNew ? 201 : 200, response, {
      location: `/v1/tills/${stored.id}`,
      ...pendingReportHeaders(stored),
    });
  },
} as const;

export const pushTillV2Route = defineTillIngestRoute({
  ...pushRouteDefaults,
  path: "/v2/tills/",
  operationId: "pushTillV2",
  summary: "Push a till",
  description:
    "Accepts the till of a closed shift. The API computes the report and the orders of the till in the background, so they are available a few seconds later. `reportId` and `reportUrl` already identify the report. To find out when it is available, get the till at the URL in `Location`, whose `reportState` then changes from `pending` to `done`. A till in training mode has no report. " +
    "Pushing the same bytes again returns the same till and changes nothing, so you can safely repeat a push whose response was lost. " +
    "You can compress the body with gzip. The maximum size is 50 MB after decompression.\n\n" +
    dryRunDescription,
  request: {
    query: z.object({
      dryRun: dryRunQueryParameter,
      locationId: locationIdQueryParameter(
        "ID of the till's location. Defaults to the API key's location. Any other location requires the scope `locations:any`.",
      ),
    }),
    body: createTillRequestBodyParser("V2", TillV2),
  },
});

export const pushTillV1Route = defineTillIngestRoute({
  ...pushRouteDefaults,
  path: "/v1/tills/",
  operationId: "pushTillV1",
  summary: "Push a till (v1, legacy)",
  description:
    "Accepts the till of a closed shift from an older application or a legacy backoffice. " +
    "The fields `application` and `legacyId` identify the location of the till. This location must be the location of the API key, unless the key has the scope `locations:any`. " +
    "As with V2 tills, pushing the same bytes again changes nothing. You can compress the body with gzip. The maximum size is 50 MB after decompression.\n\n" +
    dryRunDescription,
  request: { query: z.object({ dryRun: dryRunQueryParameter }), body: createTillRequestBodyParser("V1", TillV1) },
});

export const replaceTillRoute = defineTillIngestRoute({
  method: "put",
  path: "/v1/tills/{id}",
  operationId: "replaceTill",
  ...tillWriteRouteDefaults,
  summary: "Replace a till",
  description:
    "Replaces the body of a till with a new body in the V1 or V2 format. The report of the till is computed again and keeps its ID. Orders " +
    "that are missing from the new body are removed. Earlier bodies remain stored, unless personal data is later erased from the till. Sending the same bytes again changes nothing.",
  request: {
    params: tillPathParams,
    body: { ...createTillRequestBodyParser("either", z.union([TillV2, TillV1])), example: tillV2Example },
  },
  responses: { 200: { description: "The till was replaced", schema: ReplaceTillResponse } },
  errors: ["till_not_found", "location_forbidden", "location_not_found", "quota_exceeded"],
  async handle({ params, body: till, principal, services, context, origin, url }) {
    rejectDryRun(url);
    const id = params.id.toLowerCase();
    if (till.metadata.tillId !== id) {
      const message = appendReceivedValue(`Must be the till ID in the path, ${id}`, till.metadata.tillId);
      const path = till.metadata.format === "V1" ? "tillJson.client_id" : "id";
      throw new ApiError("invalid_request", { issues: [{ in: "body", path, code: "mismatch", message }] });
    }
    const location = await resolveReplacedLocation(principal, till.metadata, services, context);
    const replaced = await replaceTillBody(services, { location, till, principal, context });
    const response = { tillId: replaced.id, ...toTillFields(replaced, origin) };
    return jsonResponse(200, response, pendingReportHeaders(replaced));
  },
});

const listTillsQuery = z.object({
  sinceDate: RequestDateTime.meta({
    description:
      "Returns only tills that were first pushed at or after this time. The value is a date-time with an offset or `Z`.",
    example: "2026-05-29T00:00:00Z",
  }),
  ...paginationQueryShape,
  locationId: locationIdQueryParameter(),
});

const readTillRouteDefaults = { tag: "Tills", audience: "public", scope: "tills:read" } as const;

export const listTillsRoute = defineTillIngestRoute({
  method: "get",
  path: "/v1/tills/",
  operationId: "listTills",
  ...readTillRouteDefaults,
  summary: "List tills",
  description:
    "Returns the V1 and V2 tills that were first pushed for the location at or after a given time, newest first.",
  request: { query: listTillsQuery },
  responses: { 200: { description: "A page of tills, newest first", schema: paginatedSchema(TillWithBodyUrl) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services, url, origin }) {
    const { sql } = services.db;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const where = sql`location_id = ${locationId} and created_at >= ${query.sinceDate}`;
    const toItem = (till: TillRow) => toTillResponse(till, origin);
    const list = { columns: tillColumns(sql), table: sql`tills`, where, toItem };
    return queryNewestRowsPageResponse({ query, locationId, principal, url, origin }, sql, list);
  },
});

export const getTillRoute = defineTillIngestRoute({
  method: "get",
  path: "/v1/tills/{id}",
  operationId: "getTill",
  ...readTillRouteDefaults,
  summary: "Get a till",
  description:
    "Returns the location of a till, the times at which the API first and last received the till, the URL of the till's body, and the ID and state of its report. While the report is being computed, the response has the header `Retry-After`. The response has the same format for V1 and V2 tills.",
  request: { params: tillPathParams },
  responses: {
    200: {
      description: "The till, with its location, the URL of its body and the state of its report",
      schema: TillWithBodyUrl,
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["till_not_found"],
  async handle({ params, principal, services, origin, header }) {
    const till = await requireReadableTill(services, { id: params.id, principal });
    const body = JSON.stringify(toTillResponse(till, origin));
    const response = createTaggedJsonResponse(body, { ifNoneMatch: header("if-none-match") });
    return { ...response, headers: { ...response.headers, ...pendingReportHeaders(till) } };
  },
});

export const getTillObjectRoute = defineTillIngestRoute({
  method: "get",
  path: "/v1/tills/{id}/object",
  operationId: "getTillObject",
  ...readTillRouteDefaults,
  summary: "Get the body of a till",
  description:
    "Returns the exact bytes that were last pushed for this till, after decompression. If personal data has since been erased from the till, the response contains the body without this data instead. The entity tag is the SHA-256 hash of the returned bytes.",
  request: { params: tillPathParams },
  responses: {
    200: {
      description: "The body of the till as it was last pushed, except for personal data that has since been erased",
      schema: z
        .record(z.string(), z.unknown())
        .meta({ description: "The till as it was pushed, in the V1 or V2 format" }),
      example: tillV2Example,
    },
    304: { description: "The client's cached response is current" },
  },
  errors: ["till_not_found"],
  async handle({ params, principal, services, header, readLargeBody }) {
    const till = await requireReadableTill(services, { id: params.id, principal });
    const tag = { etag: till.hash, ifNoneMatch: header("if-none-match") };
    const notModified = createNotModifiedResponse(tag);
    if (notModified) return notModified;
    return createTillBodyResponse(services, till, { acceptEncoding: header("accept-encoding"), readLargeBody });
  },
});
