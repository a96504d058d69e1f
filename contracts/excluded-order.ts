import { array, object, z } from "zod";
import { boundedArray, field, requestBodySchema } from "./fields.ts";

/** The orders of one request are read in one transaction. */
const maxOrdersOfRequest = 100;

export const ExcludeOrdersRequest = requestBodySchema({
  locationId: z
    .guid()
    .optional()
    .describe("ID of the location of the orders. Default: the location of the key. Required if it has none."),
  orderIds: boundedArray(field.uuid("ID of an order"), maxOrdersOfRequest, { min: 1 }).describe(
    "IDs of orders with an invoice to a company, which are no sales to private customers",
  ),
}).meta({
  id: "ExcludeOrders",
  description: "Orders that e-reports leave out",
  example: { orderIds: ["80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21"] },
});

export const NewlyExcludedOrders = object({
  newlyExcludedOrderIds: array(field.uuid("ID of an order")).describe("The orders that were not excluded before"),
  unknownOrderIds: array(field.uuid("ID of an order")).describe(
    "Orders that no till of the location contains, at least not yet. They are left out when such a till is pushed.",
  ),
}).meta({
  id: "NewlyExcludedOrders",
  description: "The result of an exclusion of orders",
  example: { newlyExcludedOrderIds: ["80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21"], unknownOrderIds: [] },
});

export const ExcludedOrder = object({
  locationId: field.uuid("ID of the location"),
  orderId: field.uuid("ID of the order"),
  excludedAt: field.dateTime("When the order was excluded"),
}).meta({
  id: "ExcludedOrder",
  description: "An order that e-reports leave out",
  example: {
    locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
    orderId: "80b26815-3b1c-4b7e-9b3e-6f1f6c0f4d21",
    excludedAt: "2027-09-12T08:00:00.000Z",
  },
});

export type ExcludedOrder = z.infer<typeof ExcludedOrder>;
