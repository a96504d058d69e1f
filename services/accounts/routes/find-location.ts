import { LocationFacts } from "@pragma/contracts/account-lookups";
import { applicationSchema } from "@pragma/contracts/application";
import { ApiError } from "@pragma/contracts/errors";
import { integerInQuery } from "@pragma/contracts/pagination";
import { json } from "@pragma/runtime/reply";
import { z } from "zod";
import { defineRoute } from "../accounts.ts";
import { locationFacts, locationFactsByLegacyId } from "../queries/locations.ts";
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

export const findLegacyLocationRoute = defineRoute({
  method: "get",
  path: "/internal/locations/",
  operationId: "findLegacyLocation",
  tag: "Internal",
  audience: "internal",
  scope: "internal:locations",
  summary: "Find the facts of a location by its legacyId",
  description: "The location that the legacy backoffice of this application knows by this id.",
  request: { query: z.object({ application: applicationSchema, legacyId: integerInQuery(z.int().min(1)) }) },
  responses: { 200: { description: "The facts", schema: LocationFacts } },
  errors: ["location_not_found"],
  async handle({ query: { application, legacyId }, services }) {
    const location = await locationFactsByLegacyId(services.db, { application, legacyId });
    if (!location) {
      throw new ApiError("location_not_found", { detail: `There is no location ${legacyId} of ${application}.` });
    }
    return json(200, location);
  },
});
