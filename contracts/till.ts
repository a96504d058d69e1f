import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { posApplicationSchema } from "./pos-application.ts";

const tillIdExample = "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9";
const tillExample = {
  id: tillIdExample,
  createdAt: "2026-05-30T00:04:11.000Z",
  updatedAt: "2026-05-30T00:04:11.000Z",
  locationId: "7d4cbb0c-7b0c-4b9e-a9cb-4a4a0be3c2f5",
  application: "POPINA",
  serverId: null,
  objectUrl: `https://api.pragma.example/v1/tills/${tillIdExample}/object`,
} as const;

/** A till as it is kept: whose it is and where its body is read. */
export const Till = z
  .object({
    id: z.guid().meta({ description: "Id of the till: the uuid that its point of sale gave it" }),
    createdAt: UtcDateTime.meta({ description: "When it was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When its body was last received" }),
    locationId: z.guid().meta({ description: "The location that it belongs to" }),
    application: posApplicationSchema,
    serverId: z
      .int()
      .min(1)
      .nullable()
      .meta({ description: "Number of the till in a legacy backoffice; null for a V2 till" }),
    objectUrl: z.url().meta({ description: "Where the exact body is read that was pushed" }),
  })
  .meta({ id: "Till", description: "A till as it is kept", example: tillExample });

export type Till = z.infer<typeof Till>;

/** The reply to a push: the till, its id also as `tillId`. */
export const PushedTill = Till.extend({
  tillId: z.guid().meta({ description: "Id of the till, the same as id" }),
}).meta({
  id: "PushedTill",
  description: "A till that was accepted",
  example: { ...tillExample, tillId: tillIdExample },
});

export type PushedTill = z.infer<typeof PushedTill>;

const objectUrl = Till.shape.objectUrl;

/** The reply to a replacement. */
export const ReplacedTill = z.object({ tillId: z.guid().meta({ description: "Id of the till" }), objectUrl }).meta({
  id: "ReplacedTill",
  description: "A till that was replaced",
  example: { tillId: tillIdExample, objectUrl: tillExample.objectUrl },
});

/** The reply to a reprocessing of one till. */
export const ReprocessedTill = z.object({ id: z.guid().meta({ description: "Id of the till" }), objectUrl }).meta({
  id: "ReprocessedTill",
  description: "A till that is processed again",
  example: { id: tillIdExample, objectUrl: tillExample.objectUrl },
});

/** Many tills that are processed again, and how far that is. */
export const TillReprocessingJob = z
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

export type TillReprocessingJob = z.infer<typeof TillReprocessingJob>;
