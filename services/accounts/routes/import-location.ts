import { CreatedLocation, ImportLocation } from "@pragma/contracts/location";
import { jsonBody } from "@pragma/runtime/define-route";
import { json } from "@pragma/runtime/reply";
import { defineRoute } from "../accounts.ts";
import { demandAnyLocation } from "../authority.ts";
import { importLocation } from "../import-location.ts";

export const importLocationRoute = defineRoute({
  method: "post",
  path: "/v1/locations/import",
  operationId: "importLocation",
  tag: "Locations",
  audience: "operator",
  scope: "locations:write",
  summary: "Import a location of a legacy backoffice",
  description:
    "Takes over a location by its application and the legacyId that its legacy backoffice knows it by, with every option and setting at its default; name it with PATCH. Importing the same location again answers the same id with 200. The key needs locations:any as well.",
  request: {
    body: jsonBody(ImportLocation, {
      example: { application: "popina", legacyId: 1042, organizationId: "12", agencyId: "3" },
    }),
  },
  responses: {
    200: { description: "The location was there already: its id", schema: CreatedLocation },
    201: { description: "The id of the location", schema: CreatedLocation },
  },
  errors: ["location_forbidden", "location_exists"],
  async handle({ body, principal, services, context }) {
    demandAnyLocation(principal, "Only a key with the scope locations:any imports locations.");
    const { id, isNew } = await importLocation(services, { location: body, context });
    return json(isNew ? 201 : 200, { id });
  },
});
