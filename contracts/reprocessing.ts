import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";

/** Many tills that are processed again, and how far that is. */
export const Reprocessing = z
  .object({
    id: z.guid().meta({ description: "Id of the reprocessing" }),
    locationId: z.guid().nullable().meta({ description: "Whose tills; null: those of every location" }),
    lteReportVersion: z.int().min(0).meta({ description: "Reports of this version of the calculation or a lower one" }),
    total: z.int().min(0).meta({ description: "How many tills were meant when it was asked for" }),
    done: z.int().min(0).meta({ description: "How many were handed on to be processed again" }),
    createdAt: UtcDateTime.meta({ description: "When it was asked for" }),
    finishedAt: UtcDateTime.nullable().meta({ description: "When the last was handed on; null while there are more" }),
  })
  .meta({
    id: "Reprocessing",
    description: "Many tills that are processed again, and how far that is",
    example: {
      id: "0b0c1a7e-5f5e-4a51-9d6b-0a1f6b1f7c22",
      locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
      lteReportVersion: 1,
      total: 365,
      done: 200,
      createdAt: "2026-05-30T00:04:11.000Z",
      finishedAt: null,
    },
  });

export type Reprocessing = z.infer<typeof Reprocessing>;
