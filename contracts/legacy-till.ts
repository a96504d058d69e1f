import { z } from "zod";
import { boundedArray } from "./fields.ts";
import { posApplicationInputSchema, posApplicationSchema } from "./pos-application.ts";

const serverId = z.int().min(1).meta({ description: "Number of the till in the legacy backoffice" });
const legacyId = z.int().min(1).meta({ description: "What the legacy backoffice knows the till's location by" });
const legacyTillExample = { application: "POPINA", serverId: 4711, legacyId: 42 } as const;

/** A till that a legacy backoffice has. */
export const LegacyTill = z
  .object({ application: posApplicationSchema, serverId, legacyId })
  .meta({ id: "LegacyTill", description: "A till that a legacy backoffice has", example: legacyTillExample });

export type LegacyTill = z.infer<typeof LegacyTill>;

/** The tills that are to be fetched from legacy backoffices. */
export const LegacyTillsToFetch = boundedArray(
  z.object({ application: posApplicationInputSchema, serverId, legacyId }),
  10_000,
  {
    min: 1,
  },
).meta({
  id: "WantedLegacyTills",
  description: "Tills to be fetched, as the list of them has them",
  example: [legacyTillExample],
});

/** What became of the tills of a location. */
export const FetchedLegacyTills = z
  .object({
    locationId: z.guid().nullable().meta({ description: "Null for tills whose location is not known here" }),
    success: z.array(serverId).meta({ description: "The tills that are here now, or were already" }),
    errors: z
      .array(z.object({ message: z.string(), serverId }))
      .meta({ description: "The tills that are not, and why" }),
  })
  .meta({
    id: "FetchedLegacyTills",
    description: "What became of the tills of a location that were to be fetched",
    example: {
      locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
      success: [4711, 4712],
      errors: [{ message: "The backoffice responded with status 500.", serverId: 4713 }],
    },
  });

export type FetchedLegacyTills = z.infer<typeof FetchedLegacyTills>;
