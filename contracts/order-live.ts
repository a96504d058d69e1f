import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { establishmentShape } from "./establishment.ts";
import { liveOrderLocationIdExample, orderLiveInputExample } from "./examples/order-live.ts";
import {
  boundedString,
  ClientGeneratedId,
  clientGeneratedIdToUuid,
  rejectUnstorableText,
  withoutFieldDefaults,
} from "./fields.ts";
import { OrderData, OrderV2 } from "./order-data.ts";

/** How many orders one call brings at most. */
export const maxLiveOrdersPerRequest = 50;

/** Says of an order that it and its data are two: they have one id. It does so also when the order has other faults. */
const matchingIdCheck = z.superRefine<{ id?: unknown; data?: { id?: unknown } }>((order, context) => {
  const { id } = order;
  const dataId = order.data?.id;
  if (
    typeof id !== "string" ||
    typeof dataId !== "string" ||
    clientGeneratedIdToUuid(id) === clientGeneratedIdToUuid(dataId)
  )
    return;
  context.addIssue({
    code: "custom",
    path: ["data", "id"],
    params: { code: "mismatch" },
    message: "Must be the id of the order that the data is of",
  });
});
matchingIdCheck._zod.def.when = ({ value }) => typeof value === "object" && value !== null;

/** An open order as the point of sale sends it, each time that it changes. */
export const OrderLiveInput = z
  .object({
    id: ClientGeneratedId.meta({ description: "Id of the order, the same as data.id" }),
    tillId: ClientGeneratedId.meta({ description: "Id of the till that it belongs to" }),
    revisionHash: rejectUnstorableText(boundedString(1_024, { min: 1 })).meta({
      description: "Renewed on each change of the order: the same one again is no change",
    }),
    ...establishmentShape,
    data: OrderData,
  })
  .check(matchingIdCheck)
  .meta({
    id: "OrderLiveInput",
    description: "An open order as the point of sale sends it",
    example: orderLiveInputExample,
  });

export type OrderLiveInput = z.output<typeof OrderLiveInput>;

/** What the point of sale knows of an order, as replies carry it: every field is there. */
const orderDataResponse = OrderV2.omit({ createdAt: true, updatedAt: true, locationId: true, reportId: true }).meta({
  id: "OrderData",
  description: "What the point of sale knows of an order",
  example: OrderData.parse(orderLiveInputExample.data),
});

const { data, ...record } = OrderLiveInput.parse(orderLiveInputExample);
const orderLiveExample = {
  ...record,
  createdAt: "2026-05-29T10:17:20.112Z",
  updatedAt: "2026-05-29T10:21:40.377Z",
  locationId: liveOrderLocationIdExample,
  ...pickTopLevelOrderFields(data),
  data,
};

/** The fields of an order that its reply has outside of `data`, too. */
export function pickTopLevelOrderFields(order: OrderData) {
  const { roomName, tableName, total, totalTax, totalDiscount, totalWithoutTax, leftToPay } = order;
  const { serviceType, channel, source } = order;
  return {
    roomName,
    tableName,
    total,
    totalTax,
    totalDiscount,
    totalWithoutTax,
    leftToPay,
    serviceType,
    channel,
    source,
  };
}

const orderFields = OrderV2.shape;

/** An order that is live: what lists, the stream and the reply to an upsert show of it. */
export const OrderLive = z
  .object({
    id: z.guid().meta({ description: "Id of the order" }),
    createdAt: UtcDateTime.meta({ description: "When it was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When it was last changed" }),
    locationId: z.guid().meta({ description: "The location that it belongs to" }),
    ...withoutFieldDefaults(establishmentShape),
    roomName: orderFields.roomName,
    tableName: orderFields.tableName,
    tillId: z.guid().meta({ description: "The till that it belongs to" }),
    revisionHash: z.string().meta({ description: "Renewed on each change of the order" }),
    total: orderFields.total,
    totalTax: orderFields.totalTax,
    totalDiscount: orderFields.totalDiscount,
    totalWithoutTax: orderFields.totalWithoutTax,
    leftToPay: orderFields.leftToPay,
    serviceType: orderFields.serviceType,
    channel: orderFields.channel,
    source: orderFields.source,
    data: orderDataResponse,
  })
  .meta({ id: "OrderLive", description: "An order that is live", example: orderLiveExample });

export type OrderLive = z.infer<typeof OrderLive>;

/** Why an order is no longer in what a stream shows. */
export const orderLeftReasons = {
  till: "Its till was closed, and its report is final",
  filter: "It no longer passes the filters of this stream",
  training: "It turned out to be made in school mode",
  forgotten: "Nobody changed it for a month",
} as const;

export type OrderLeftReason = keyof typeof orderLeftReasons;

/** What a stream says of an order that left: in an event of the type `left`. */
export const OrderLeftEvent = z.object({
  id: z.guid(),
  locationId: z.guid(),
  tillId: z.guid(),
  reason: z.enum(Object.keys(orderLeftReasons) as [OrderLeftReason, ...OrderLeftReason[]]),
});

export type OrderLeftEvent = z.infer<typeof OrderLeftEvent>;

/** An order as events tell of it: all that the point of sale knows, where it belongs, and the establishment's header. */
export const EventOrder = z.object({
  ...orderDataResponse.shape,
  tillId: OrderLive.shape.tillId,
  revisionHash: OrderLive.shape.revisionHash,
  locationId: OrderLive.shape.locationId,
  ...withoutFieldDefaults(establishmentShape),
});

export type EventOrder = z.infer<typeof EventOrder>;
