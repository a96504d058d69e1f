import { object, z } from "zod";
import { establishmentShape } from "./establishment.ts";
import { liveOrderLocationIdExample, orderLiveInputExample } from "./examples/order-live.ts";
import {
  addIssue,
  boundedString,
  ClientGeneratedId,
  field,
  normalizeClientGeneratedUuid,
  withoutFieldDefaults,
  withUnstorableTextCheck,
} from "./fields.ts";
import { OrderV2, PosOrderData } from "./order-data.ts";

export const maxLiveOrdersPerRequest = 50;

/** Reports an issue if `id` differs from `data.id`, even if the order has other issues. */
const matchingIdCheck = z.superRefine<{ id?: unknown; data?: { id?: unknown } }>((order, context) => {
  const { id } = order;
  const dataId = order.data?.id;
  if (typeof id !== "string" || typeof dataId !== "string") return;
  if (normalizeClientGeneratedUuid(id) !== normalizeClientGeneratedUuid(dataId))
    addIssue(context, "mismatch", "Must be equal to the ID of the order", { path: ["data", "id"] });
});
matchingIdCheck._zod.def.when = ({ value }) => typeof value === "object" && value !== null;

/** A live order in a request. The point of sale sends the whole order again after each change. */
export const OrderLiveInput = object({
  id: ClientGeneratedId.describe("ID of the order, equal to `data.id`"),
  tillId: ClientGeneratedId.describe("ID of the till that the order belongs to"),
  revisionHash: withUnstorableTextCheck(boundedString(1_024, { min: 1 })).describe(
    "Hash that changes with each revision of the order. If the hash has not changed, the order is not updated.",
  ),
  ...establishmentShape,
  data: PosOrderData,
})
  .check(matchingIdCheck)
  .meta({
    id: "OrderLiveInput",
    description: "A live order as the point of sale sends it, with all its rows",
    example: orderLiveInputExample,
  });

export type OrderLiveInput = z.output<typeof OrderLiveInput>;

const orderDataResponse = OrderV2.omit({ createdAt: true, updatedAt: true, locationId: true, reportId: true }).meta({
  id: "OrderData",
  description: "All fields of an order as the point of sale sent them",
  example: PosOrderData.parse(orderLiveInputExample.data),
});

const { data, ...record } = OrderLiveInput.parse(orderLiveInputExample);
const orderLiveExample = {
  ...record,
  createdAt: "2026-05-29T10:17:20.112Z",
  updatedAt: "2026-05-29T10:21:40.377Z",
  locationId: liveOrderLocationIdExample,
  ...pickLiveOrderSummaryFields(data),
  data,
};

/** Returns the fields of an order that responses also contain outside of `data`. */
export function pickLiveOrderSummaryFields(order: PosOrderData) {
  const { roomName, tableName, total, totalTax, totalDiscount, totalWithoutTax, leftToPay } = order;
  const { serviceType, channel, source } = order;
  return {
    ...{ roomName, tableName, total, totalTax, totalDiscount, totalWithoutTax, leftToPay },
    ...{ serviceType, channel, source },
  };
}

const { roomName, tableName, total, totalTax, totalDiscount, totalWithoutTax, leftToPay } = OrderV2.shape;
const { serviceType, channel, source } = OrderV2.shape;

export const OrderLive = object({
  id: field.uuid("ID of the order"),
  createdAt: field.dateTime("When the order was first received"),
  updatedAt: field.dateTime("When the stored order was last changed"),
  locationId: field.uuid("ID of the location"),
  ...withoutFieldDefaults(establishmentShape),
  ...{ roomName, tableName },
  tillId: field.uuid("ID of the till that the order belongs to"),
  revisionHash: field.text("Hash that changes with each revision of the order"),
  ...{ total, totalTax, totalDiscount, totalWithoutTax, leftToPay, serviceType, channel, source },
  data: orderDataResponse,
}).meta({
  id: "OrderLive",
  description: "A live order: an order whose till has not been closed yet",
  example: orderLiveExample,
});

export type OrderLive = z.infer<typeof OrderLive>;

/** The reasons why an upserted order is skipped, with their descriptions. */
export const skippedLiveOrderReasons = {
  unchanged: "Its `revisionHash` equals the stored hash",
  outdated: "Its `data.modifiedAt` is earlier than that of the stored order",
  till_closed: "Its till is closed and has a report",
  in_report:
    "The report of another till contains the order, and its `data.modifiedAt` is missing or not after the end of that till's shift",
} as const;

export type SkippedLiveOrderReason = keyof typeof skippedLiveOrderReasons;

/** The reasons why an order leaves a stream, with their descriptions. */
export const orderLeftStreamReasons = {
  till: "The order's till was closed, and the report of the till is available",
  filter: "The order no longer matches the filters of the stream",
  training: "The order was marked as a training order",
  forgotten: "The order had not changed for 30 days",
} as const;

export type OrderLeftStreamReason = keyof typeof orderLeftStreamReasons;

/** The data of a stream event of type `left`. */
export const OrderLeftStreamEventData = object({
  id: z.guid(),
  locationId: z.guid(),
  tillId: z.guid(),
  reason: z.enum(Object.keys(orderLeftStreamReasons) as [OrderLeftStreamReason, ...OrderLeftStreamReason[]]),
});

export type OrderLeftStreamEventData = z.infer<typeof OrderLeftStreamEventData>;

/** An order in events: the data from the point of sale, its location and till, and the establishment fields. */
export const LiveOrderInEvent = object({
  ...orderDataResponse.shape,
  tillId: OrderLive.shape.tillId,
  revisionHash: OrderLive.shape.revisionHash,
  locationId: OrderLive.shape.locationId,
  ...withoutFieldDefaults(establishmentShape),
});

export type LiveOrderInEvent = z.infer<typeof LiveOrderInEvent>;
