import { ApiError } from "@pragma/contracts/errors";
import { FetchLegacyTillsRequest, LegacyFetchResults, LegacyTill } from "@pragma/contracts/legacy-till";
import { type PosApplicationName, posApplicationNameSchema } from "@pragma/contracts/pos-application";
import type { Principal } from "@pragma/contracts/principal";
import { hasScope } from "@pragma/contracts/scopes";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { z } from "zod";
import { defineTillIngestRoute, tillWriteRouteDefaults } from "../context.ts";
import { fetchBackofficeTillList } from "../legacy/backoffice.ts";
import { fetchAndStoreLegacyTills } from "../legacy/fetch-legacy-tills.ts";
import { rejectDryRun } from "./dry-run-parameter.ts";

const legacyApplicationQuery = z.object({
  application: posApplicationNameSchema.optional().meta({
    description:
      "Point-of-sale application whose legacy backoffice is used. Defaults to the application of the API key's location.",
  }),
});

/**
 * Returns the application whose backoffice a request uses, and the legacy id of the only location whose tills the API
 * key may see there; undefined if the key may act for any location. @throws `ApiError` location_forbidden;
 * invalid_request if neither the key nor the request names an application.
 */
function resolveLegacyTillFilter(
  { location, scopes }: Principal,
  requested: PosApplicationName | undefined,
): { application: PosApplicationName; legacyId: number | undefined } {
  const application = requested ?? location?.application;
  if (hasScope(scopes, "locations:any")) {
    if (application) return { application, legacyId: undefined };
    const message = "Is required, because this API key has no location";
    throwIfInvalid([{ in: "query", path: "application", code: "required", message }]);
  }
  if (!application || application !== location?.application) {
    throw new ApiError("location_forbidden", { detail: "`application` must match the API key's location." });
  }
  // Legacy ids start at 1, so 0 matches no location.
  return { application, legacyId: location.legacyId ?? 0 };
}

export const listLegacyTillsRoute = defineTillIngestRoute({
  method: "get",
  path: "/v1/tills/legacy/",
  operationId: "listLegacyTills",
  ...tillWriteRouteDefaults,
  summary: "List tills in a legacy backoffice",
  description:
    "Returns every till that an application's legacy backoffice stores for the location of the API key. If the key has the scope `locations:any`, the response contains the tills of all locations. " +
    "The list includes tills that were already fetched. Fetching these tills again changes nothing.",
  request: { query: legacyApplicationQuery },
  responses: {
    200: {
      description: "The tills in the legacy backoffice, in the order in which the backoffice returns them",
      schema: z.array(LegacyTill),
      example: [{ application: "POPINA", serverId: 4711, legacyId: 42 }],
    },
  },
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ query, principal, services, signal }) {
    const filter = resolveLegacyTillFilter(principal, query.application);
    return jsonResponse(200, await fetchBackofficeTillList(services.config, { ...filter, signal }));
  },
});

const requestedTillsBody = createValidatingJsonBodyParser(FetchLegacyTillsRequest.optional());

export const fetchLegacyTillsRoute = defineTillIngestRoute({
  method: "post",
  path: "/v1/tills/legacy/",
  operationId: "fetchLegacyTills",
  ...tillWriteRouteDefaults,
  summary: "Fetch tills from a legacy backoffice",
  description:
    "Fetches the tills that the request body identifies. If the request has no body, the API fetches all tills that `GET /v1/tills/legacy` returns. Each till is processed like a pushed till. " +
    "For each till, the response indicates whether the till is stored and, if not, why. Tills that were already stored count as successes. " +
    "A request takes at most 30 seconds. Tills that were not fetched within this time are listed as errors in the response. To fetch these tills, repeat the request.",
  request: { query: legacyApplicationQuery, body: requestedTillsBody },
  responses: {
    200: {
      description: "The result for each till, grouped by location",
      schema: z.array(LegacyFetchResults),
      example: [
        {
          locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
          success: [4711, 4712],
          errors: [{ message: "The backoffice responded with status 500.", serverId: 4713 }],
        },
      ],
    },
  },
  // Repeating a call is safe, because each till is stored only once, in its own transaction.
  isIdempotent: true,
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ body, query, principal, services, context, signal, url }) {
    rejectDryRun(url);
    const tills =
      body ??
      (await fetchBackofficeTillList(services.config, {
        ...resolveLegacyTillFilter(principal, query.application),
        signal,
      }));
    const fetched = await fetchAndStoreLegacyTills(services, { tills, principal, signal, context });
    const fetchedCount = fetched.reduce((sum, { success }) => sum + success.length, 0);
    context.addLogFields({ requested: tills.length, fetched: fetchedCount });
    return jsonResponse(200, fetched);
  },
});
