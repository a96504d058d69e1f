import { LocationDetails } from "@pragma/contracts/location";
import { taggedByContent } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { findLocation } from "../queries/locations.ts";
import { demandReadable, locationNotFound } from "../readable-location.ts";
import { showDetails } from "../show-location.ts";
import { locationParams } from "./location-params.ts";

export const getLocationRoute = defineRoute({
  method: "get",
  path: "/v1/locations/{id}",
  operationId: "getLocation",
  tag: "Locations",
  audience: "operator",
  scope: "locations:write",
  summary: "Get a location",
  description: "A location with every option and setting. A key without locations:any finds its own only.",
  request: { params: locationParams },
  responses: {
    200: { description: "The location", schema: LocationDetails },
    304: { description: "The client has it already" },
  },
  errors: ["location_not_found"],
  async handle({ params, principal, services, header }) {
    demandReadable(principal, params.id);
    const location = await findLocation(services.db, params.id);
    if (!location) throw locationNotFound(params.id);
    return taggedByContent(JSON.stringify(showDetails(location)), { ifNoneMatch: header("if-none-match") });
  },
});
