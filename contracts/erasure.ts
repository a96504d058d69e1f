import { object, z } from "zod";
import { boundedArray, field } from "./fields.ts";

const locationId = field.uuid("ID of the location");

/** The largest number of orders in one request for an erasure. */
const maxErasedOrders = 1_000;

export const CreateErasureRequest = z
  .union(
    [
      object({
        locationId,
        orderIds: boundedArray(z.guid().toLowerCase(), maxErasedOrders, { min: 1 }).meta({
          description: "IDs of the orders whose personal data is erased",
          example: ["8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2"],
        }),
      }),
      object({
        locationId,
        before: z.iso.date().meta({
          description: "Day in UTC, as YYYY-MM-DD. The personal data of all tills that were pushed before it is erased",
          example: "2025-06-01",
        }),
      }),
    ],
    { error: "Must have `locationId`, and either `orderIds`, a list of order IDs, or `before`, a day as YYYY-MM-DD" },
  )
  .meta({
    id: "CreateErasure",
    description: "What to erase: the personal data of some orders of a location, or of its tills before a day",
    example: {
      locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
      orderIds: ["8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2"],
    },
  });

export type CreateErasureRequest = z.output<typeof CreateErasureRequest>;

export const CreatedErasure = object({
  tillCount: field.count("Number of tills whose personal data is erased"),
}).meta({ id: "CreatedErasure", description: "An erasure that was requested", example: { tillCount: 1 } });
