import { ChangeLocation, LocationDetails } from "@pragma/contracts/location";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { changeLocation } from "../change-location.ts";
import { demandReadable } from "../readable-location.ts";
import { showDetails } from "../show-location.ts";
import { locationParams } from "./location-params.ts";

export const changeLocationRoute = defineRoute({
  method: "patch",
  path: "/v1/locations/{id}",
  operationId: "changeLocation",
  tag: "Locations",
  audience: "operator",
  scope: "locations:write",
  summary: "Change a location",
  description:
    "Changes the options and settings that the body names and leaves the others; null takes a value away where there may be none. tipsConfig is replaced as a whole. A key without locations:any changes its own location only.",
  request: {
    params: locationParams,
    body: jsonBody(ChangeLocation, {
      example: { currencyCode: "CHF", locationSettings: { timezone: "Europe/Zurich", country: "Suisse" } },
    }),
  },
  responses: { 200: { description: "The location as it is now", schema: LocationDetails } },
  errors: ["location_not_found"],
  async handle({ params, body, principal, services, context }) {
    demandReadable(principal, params.id);
    return json(200, showDetails(await changeLocation(services, { id: params.id, change: body, context })));
  },
});
