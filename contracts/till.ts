import { z } from "zod";
import { UtcDateTimeSchema } from "./date-time.ts";
import { posApplicationNameSchema } from "./pos-application.ts";

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

/** A stored till: its location, and the URL of its body. */
export const TillWithBodyUrl = z
  .object({
    id: z.guid().meta({ description: "ID of the till: a UUID assigned by the point of sale" }),
    createdAt: UtcDateTimeSchema.meta({ description: "When the till was first received" }),
    updatedAt: UtcDateTimeSchema.meta({ description: "When the body of the till was last received" }),
    locationId: z.guid().meta({ description: "ID of the location" }),
    application: posApplicationNameSchema,
    serverId: z.int().min(1).nullable().meta({
      description: "ID of the till in the legacy backoffice; null if the till does not come from a legacy backoffice",
    }),
    objectUrl: z.url().meta({
      description:
        "URL of the body of the till as it was last pushed, except for personal data that has since been erased",
    }),
  })
  .meta({ id: "Till", description: "A stored till, with its location and the URL of its body", example: tillExample });

export type TillWithBodyUrl = z.infer<typeof TillWithBodyUrl>;

/** The response to a push: the till. `tillId` contains the same id as `id`. */
export const PushTillResponse = TillWithBodyUrl.extend({
  tillId: z.guid().meta({ description: "ID of the till, the same as `id`" }),
}).meta({
  id: "PushedTill",
  description: "A till that was accepted, with its location and the URL of its body",
  example: { ...tillExample, tillId: tillIdExample },
});

export type PushTillResponse = z.infer<typeof PushTillResponse>;

const objectUrl = TillWithBodyUrl.shape.objectUrl;

/** The response to the replacement of a till's body, with the ID of the till and the URL of the body. */
export const ReplaceTillResponse = z
  .object({ tillId: z.guid().meta({ description: "ID of the replaced till" }), objectUrl })
  .meta({
    id: "ReplacedTill",
    description: "A till whose body was replaced",
    example: { tillId: tillIdExample, objectUrl: tillExample.objectUrl },
  });

/** The response to the reprocessing of one till, with the ID of the till and the URL of the body. */
export const ReprocessTillResponse = z
  .object({ id: z.guid().meta({ description: "ID of the till" }), objectUrl })
  .meta({
    id: "ReprocessedTill",
    description: "A till whose report and orders are being computed again",
    example: { id: tillIdExample, objectUrl: tillExample.objectUrl },
  });

/** A job that reprocesses many tills, with its progress. */
export const BulkTillReprocessingStatus = z
  .object({
    id: z.guid().meta({ description: "ID of the reprocessing job" }),
    locationId: z
      .guid()
      .nullable()
      .meta({ description: "ID of the location whose tills are reprocessed; null for all locations" }),
    lteReportVersion: z.int().min(0).meta({
      description:
        "Maximum version of the report calculation. Tills without a report (except training tills) and tills whose report has this version or a lower version are reprocessed.",
    }),
    total: z.int().min(0).meta({ description: "Number of tills to reprocess, counted when the job was created" }),
    done: z.int().min(0).meta({ description: "Number of tills that have been queued for reprocessing so far" }),
    createdAt: UtcDateTimeSchema.meta({ description: "When the job was created" }),
    finishedAt: UtcDateTimeSchema.nullable().meta({
      description: "When the job finished; null if the job has not finished",
    }),
  })
  .meta({
    id: "Reprocessing",
    description: "A background job that reprocesses tills, with its progress",
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

export type BulkTillReprocessingStatus = z.infer<typeof BulkTillReprocessingStatus>;
