import { LocationFacts } from "@pragma/contracts/account-lookups";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { locationFacts } from "../queries/locations.ts";
import { locationNotFound } from "../readable-location.ts";
import { locationParams } from "./location-params.ts";

export const findLocationRoute = defineRoute({
  method: "get",
  path: "/internal/locations/{id}",
  operationId: "findLocation",
  tag: "Internal",
  audience: "internal",
  scope: "internal:locations",
  summary: "Find the facts of a location",
  description: "The application, legacyId and time zone of a location.",
  request: { params: locationParams },
  responses: { 200: { description: "The facts", schema: LocationFacts } },
  errors: ["location_not_found"],
  async handle({ params, services }) {
    const location = await locationFacts(services.db, params.id);
    if (!location) throw locationNotFound(params.id);
    return json(200, location);
  },
});
