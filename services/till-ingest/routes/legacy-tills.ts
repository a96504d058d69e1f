import { FetchedLegacyTills, LegacyTill, LegacyTillsToFetch } from "@pragma/contracts/legacy-till";
import { PushedTill } from "@pragma/contracts/till";
import { TillV1 } from "@pragma/contracts/till-v1";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { z } from "zod";
import { acceptTill } from "../accept-till.ts";
import { defineRoute, tillRoute } from "../context.ts";
import { legacyApplicationQuery, listLegacyTills, resolveLegacyTillFilter } from "../legacy/backoffice.ts";
import { fetchLegacyTills } from "../legacy/fetch-legacy-tills.ts";
import { resolveLegacyLocation } from "../resolve-till-location.ts";
import { tillRequestBody } from "../validation/till-body-reader.ts";
import { pushTillResponse } from "./till-response.ts";

export const pushTillV1 = defineRoute({
  method: "post",
  path: "/v1/tills/",
  operationId: "pushTillV1",
  ...tillRoute,
  summary: "Push a till in the older format",
  description:
    "Accepts the till of a closed shift from an older application or a legacy backoffice. " +
    "Its location is the one with the body's application and legacyId: the key's own, unless the key may act for any. " +
    "Otherwise it is as a till that is pushed in the newer format: the same bytes again change nothing, gzip is taken, and 50 MB at most.",
  request: { body: tillRequestBody("V1", TillV1) },
  responses: {
    201: { description: "The till was accepted", schema: PushedTill },
    200: { description: "The same till was accepted before", schema: PushedTill },
  },
  errors: ["location_forbidden", "location_not_found", "till_conflict", "quota_exceeded"],
  async handle({ body: till, principal, services, context, origin }) {
    const location = await resolveLegacyLocation(principal, till.facts.legacyLocation, services.locations, context);
    const accepted = await acceptTill(services, { location, till, principal, context });
    return pushTillResponse(accepted, { origin, context });
  },
});

export const listLegacyTillsRoute = defineRoute({
  method: "get",
  path: "/v1/tills/legacy/",
  operationId: "listLegacyTills",
  ...tillRoute,
  summary: "List the tills of a legacy backoffice",
  description:
    "Every till that the legacy backoffice of an application has of the key's location; of all locations for a key that may act for any. " +
    "Whether they are here already is not told: fetching them again changes nothing.",
  request: { query: legacyApplicationQuery },
  responses: {
    200: {
      description: "The tills, in the order of the backoffice",
      schema: z.array(LegacyTill),
      example: [{ application: "POPINA", serverId: 4711, legacyId: 42 }],
    },
  },
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ query, principal, services, signal }) {
    const filter = resolveLegacyTillFilter(principal, query.application);
    return jsonResponse(200, await listLegacyTills(services.config, { ...filter, signal }));
  },
});

/** The list of what is wanted, or nothing. */
const requestedTillsBody = jsonBodyParser(LegacyTillsToFetch.optional());

export const fetchLegacyTillsRoute = defineRoute({
  method: "post",
  path: "/v1/tills/legacy/",
  operationId: "fetchLegacyTills",
  ...tillRoute,
  summary: "Fetch tills from a legacy backoffice",
  description:
    "Fetches the tills of the body, or without a body every till that the list has, and accepts each as if it had been pushed. " +
    "The reply says of every till whether it is here, and if not why; those that were here already are. " +
    "One call takes half a minute at most, and what was not done by then is said too: the same call again brings the rest.",
  request: { query: legacyApplicationQuery, body: requestedTillsBody },
  responses: {
    200: {
      description: "What became of each till, by location",
      schema: z.array(FetchedLegacyTills),
      example: [
        {
          locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
          success: [4711, 4712],
          errors: [{ message: "The backoffice answered 500.", serverId: 4713 }],
        },
      ],
    },
  },
  // Each till is accepted in a transaction of its own, and once.
  isIdempotent: true,
  errors: ["location_forbidden", "legacy_not_configured", "legacy_unavailable"],
  async handle({ body, query, principal, services, context, signal }) {
    const wanted =
      body ??
      (await listLegacyTills(services.config, { ...resolveLegacyTillFilter(principal, query.application), signal }));
    const fetched = await fetchLegacyTills(services, { wanted, principal, signal, context });
    context.addLogFields({
      wanted: wanted.length,
      fetched: fetched.reduce((sum, { success }) => sum + success.length, 0),
    });
    return jsonResponse(200, fetched);
  },
});
