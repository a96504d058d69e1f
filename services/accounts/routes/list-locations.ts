import { applicationSchema } from "@pragma/contracts/application";
import { Location } from "@pragma/contracts/location";
import { integerInQuery, pageOf, pageQuery } from "@pragma/contracts/pagination";
import { readableLocation } from "@pragma/runtime/own-location";
import { replyWithPage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { listLocations } from "../queries/locations.ts";

const query = z.object({
  ...pageQuery,
  app: applicationSchema.optional(),
  legacyId: integerInQuery(z.int().min(1))
    .optional()
    .meta({ description: "Id in the legacy backoffice", example: 1042, type: "integer", minimum: 1 }),
});

export const listLocationsRoute = defineRoute({
  method: "get",
  path: "/v1/locations/",
  operationId: "listLocations",
  tag: "Locations",
  audience: "operator",
  scope: "locations:write",
  summary: "List locations",
  description: "The locations, newest first. A key without locations:any sees its own only.",
  request: { query },
  responses: { 200: { description: "A page of locations", schema: pageOf(Location) } },
  errors: ["invalid_page_token"],
  async handle({ query, principal, services, url, origin }) {
    const filter = {
      only: readableLocation(principal),
      application: query.app ?? null,
      legacyId: query.legacyId ?? null,
    };
    return replyWithPage({ query, url, origin }, (range) => listLocations(services.db, filter, range));
  },
});
