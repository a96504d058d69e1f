import { CreatedLocation, CreateLocation } from "@pragma/contracts/location";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { demandAnyLocation } from "../authority.ts";
import { createLocation } from "../create-location.ts";

export const createLocationRoute = defineRoute({
  method: "post",
  path: "/v1/locations/",
  operationId: "createLocation",
  tag: "Locations",
  audience: "operator",
  scope: "locations:write",
  summary: "Create a location",
  description:
    "Makes a location. Required are its application, its organization and agency, and its name; every other option and setting has a default. The key needs locations:any as well, since the location is another than its own.",
  request: {
    body: jsonBody(CreateLocation, {
      example: {
        application: "popina",
        organizationId: "12",
        agencyId: "3",
        tipsConfig: { isEnabled: true, predefinedValues: [5, 10, 15], format: "percentage" },
        locationSettings: {
          locationName: "Le Bistrot",
          address1: "12 rue des Lilas",
          zipCode: "75020",
          city: "Paris",
          prepaStepsCount: 4,
        },
      },
    }),
  },
  responses: { 201: { description: "The id of the location", schema: CreatedLocation } },
  errors: ["location_forbidden"],
  async handle({ body, principal, services, context }) {
    demandAnyLocation(principal, "Only a key with the scope locations:any creates locations.");
    return json(201, { id: await createLocation(services, { location: body, context }) });
  },
});
