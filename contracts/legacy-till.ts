import { array, object, type z } from "zod";
import { boundedArray, field } from "./fields.ts";
import { posApplicationNameInputSchema, posApplicationNameSchema } from "./pos-application.ts";

const serverId = field.positiveInteger("ID of the till in the legacy backoffice");
const legacyId = field.positiveInteger("ID of the till's location in the legacy backoffice");
const legacyTillExample = { application: "POPINA", serverId: 4711, legacyId: 42 } as const;

export const LegacyTill = object({ application: posApplicationNameSchema, serverId, legacyId }).meta({
  id: "LegacyTill",
  description: "A till stored in a legacy backoffice",
  example: legacyTillExample,
});

export type LegacyTill = z.infer<typeof LegacyTill>;

export const FetchLegacyTillsRequest = boundedArray(
  object({ application: posApplicationNameInputSchema, serverId, legacyId }),
  10_000,
  { min: 1 },
).meta({
  id: "WantedLegacyTills",
  description: "Tills to fetch, in the same format as in the response to `GET /v1/tills/legacy`",
  example: [legacyTillExample],
});

export const LegacyFetchResults = object({
  locationId: field.nullableUuid("ID of the location; null if the tills belong to an unknown location"),
  success: array(serverId).describe("`serverId` of each till that was fetched or was already stored"),
  errors: array(object({ message: field.text("Reason why the till was not fetched"), serverId })).describe(
    "Tills that could not be fetched, with the reasons",
  ),
}).meta({
  id: "FetchedLegacyTills",
  description: "Results of fetching the tills of a location",
  example: {
    locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
    success: [4711, 4712],
    errors: [{ message: "The backoffice responded with status 500.", serverId: 4713 }],
  },
});

export type LegacyFetchResults = z.infer<typeof LegacyFetchResults>;
