import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { orderLiveInputExample } from "./examples/order-live.ts";
import { webhookDeliveryExample, webhookExample } from "./examples/webhook.ts";
import { EventOrder, OrderLiveInput } from "./order-live.ts";
import type { ProductRow } from "./order-rows.ts";
import { type WebhookEventName, webhookDisabledReasonSchema } from "./webhook.ts";

/** The headers that say who sent a message, and which. */
export const webhookHeadersSchema = z.object({
  "webhook-id": z.guid().meta({
    description: "Id of the message, the same on every attempt: handle a message once by it",
    example: webhookDeliveryExample.messageId,
  }),
  "webhook-timestamp": z.string().regex(/^\d+$/).meta({
    description: "When this attempt was made, in seconds since 1970: refuse it when that is minutes ago",
    example: "1780050672",
  }),
  "webhook-signature": z.string().meta({
    description:
      "For each current secret of the recipient `v1,` and the base64 of an HMAC-SHA256 over webhook-id, webhook-timestamp and the body with points between them; with a space between signatures. The key is the secret's UTF-8 bytes. Standard Webhooks libraries check it",
    example: "v1,eZ5Gd3lgHB0i7o1p2mmm9HhiYpsX2YtQx1bUqyqzv3Y=",
  }),
  "x-popina-webhook-id": z
    .guid()
    .meta({ description: "The same as webhook-id", example: webhookDeliveryExample.messageId }),
  "x-popina-webhook-event": z.string().meta({ description: "What the message tells of", example: "order.paid" }),
  "x-popina-hmac-signature": z.string().meta({
    description:
      "HMAC-SHA256 over the body, in hexadecimal. The key is the secret's UTF-8 bytes; of several current secrets, the oldest",
    example: "3b0c7b6f9c6d4f7c8a2e6f3f1f0b2f4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  }),
});

/** What receivers count stock by, beside a product row's own fields. */
const stockFields = {
  productCatalogId: z
    .string()
    .nullable()
    .meta({ description: "The same as productId: id of the product in the catalogue; null for a temporary product" }),
  stockImpactIndicator: z.boolean().meta({
    description: "True only for the original item of a split, so that stock counts it once",
  }),
};

const webhookProductRow = EventOrder.shape.productRowList.element
  .extend(stockFields)
  .meta({ id: "WebhookProductRow", description: "A product of an order, with what stock is counted by" });

const webhookMenuRow = EventOrder.shape.menuRowList.element
  .extend({ productRowList: z.array(webhookProductRow).meta({ description: "The products that it is made of" }) })
  .meta({ id: "WebhookMenuRow", description: "A set menu of an order, with what stock is counted by" });

/** An order as webhooks tell of it. */
const WebhookOrder = EventOrder.extend({
  productRowList: z.array(webhookProductRow).meta({ description: "Its products that are not part of a menu" }),
  menuRowList: z.array(webhookMenuRow).meta({ description: "Its menus" }),
}).meta({ id: "WebhookOrder", description: "An order, with what stock is counted by" });

export type WebhookOrder = z.infer<typeof WebhookOrder>;

/** The order of an event as webhooks tell of it: each product row says what stock is counted by. */
export function toWebhookOrder(order: EventOrder): WebhookOrder {
  return {
    ...order,
    productRowList: order.productRowList.map(withStockFields),
    menuRowList: order.menuRowList.map((menu) => ({
      ...menu,
      productRowList: menu.productRowList.map(withStockFields),
    })),
  };
}

function withStockFields<Row extends Pick<ProductRow, "productId" | "parentProductRowId">>(row: Row) {
  return { ...row, productCatalogId: row.productId, stockImpactIndicator: row.parentProductRowId === null };
}

/** What is told of a report: inside the product, and by webhooks. */
export const ReportFinalizedEventData = z.object({
  locationId: z.guid(),
  reportId: z.guid().meta({ description: "Id of the report" }),
  tillId: z.guid().meta({ description: "The till that it is of" }),
  revision: z
    .int()
    .min(1)
    .meta({ description: "1 for the till as it was first pushed, more when it was replaced or reprocessed" }),
  reportVersion: z.int().min(1).meta({ description: "Version of the calculation that made the report" }),
  reportNumber: z.int().meta({ description: "Counted by the point of sale" }),
  startedAt: UtcDateTime,
  finalizedAt: UtcDateTime,
  totalSales: z.int().meta({ description: "Sales, VAT included. In minor units: 1400 means 14.00" }),
  orderIds: z.array(z.guid()).meta({ description: "Every order of the till" }),
});

/** What is told of an endpoint that has had nothing but failures. */
export const EndpointFailingEventData = z.object({
  locationId: z.guid(),
  webhookId: z.guid().meta({ description: "The webhook whose endpoint it is" }),
  endpointUrl: z.string().meta({ description: "The endpoint" }),
  failingSince: UtcDateTime.meta({
    description: "When the first attempt failed since the last that succeeded",
  }),
  lastError: z.string().meta({ description: "Why the latest attempt failed" }),
});

export const EndpointDisabledEventData = EndpointFailingEventData.extend({
  reason: webhookDisabledReasonSchema.meta({
    description: "gone: it answered 410; failing: nothing but failures for five days",
  }),
});

const testMessageData = z.object({
  locationId: z.guid(),
  webhookId: z.guid().meta({ description: "The webhook that is tested" }),
  message: z.string(),
});

function webhookBodySchema<Event extends WebhookEventName, Data extends z.ZodType>(
  event: Event,
  id: string,
  data: Data,
  example: { sequence: number | null; data: unknown },
) {
  const head = { id: webhookDeliveryExample.messageId, event, emittedAt: "2026-05-29T10:31:12.391Z" };
  const meta = z.object({
    id: z.guid().meta({
      description: "Id of the message, the same on every attempt: handle a message once by it",
    }),
    event: z.literal(event).meta({ description: "What it tells of" }),
    emittedAt: UtcDateTime.meta({ description: "When it came to pass" }),
    sequence: z.int().nullable().meta({
      description:
        "Of one order's messages, which it is: they may arrive in another order, and the highest is the latest. Of one report's, the till's revision. Null where there is only one",
    }),
  });
  const bodyExample = { meta: { ...head, sequence: example.sequence }, data: example.data };
  return z.object({ meta, data }).meta({ id, description: "The body of a message", example: bodyExample });
}

const { data: openOrder, ...head } = OrderLiveInput.parse(orderLiveInputExample);
const orderExample = toWebhookOrder({
  ...head,
  ...openOrder,
  tillId: head.tillId,
  revisionHash: head.revisionHash,
  locationId: webhookExample.locationId,
});
const paidOrderFields = { isPaid: true, paidAt: "2026-05-29T10:31:12.000Z", leftToPay: 0 };
const endpointExample = {
  locationId: webhookExample.locationId,
  webhookId: "4b0f5b5d-64f2-4d0b-9d5e-35c2b6a0d6f6",
  endpointUrl: "https://stock.example/webhooks/other",
  failingSince: "2026-05-24T10:31:12.391Z",
  lastError: "The endpoint refused the connection.",
};

/** Every message that is sent, with its body as receivers get it. */
export const webhookBodySchemas = {
  "order.call": webhookBodySchema("order.call", "OrderCallWebhook", WebhookOrder, { sequence: 1, data: orderExample }),
  "order.paid": webhookBodySchema("order.paid", "OrderPaidWebhook", WebhookOrder, {
    sequence: 3,
    data: { ...orderExample, ...paidOrderFields },
  }),
  "order.canceled": webhookBodySchema("order.canceled", "OrderCanceledWebhook", WebhookOrder, {
    sequence: 2,
    data: {
      ...orderExample,
      isCanceled: true,
      canceledAt: "2026-05-29T10:31:12.000Z",
      canceledReason: "Erreur de saisie",
    },
  }),
  "order.transferred": webhookBodySchema("order.transferred", "OrderTransferredWebhook", WebhookOrder, {
    sequence: 2,
    data: {
      ...orderExample,
      isTransferred: true,
      transferredAt: "2026-05-29T10:31:12.000Z",
      transferredTo: "Chambre 12",
    },
  }),
  "report.finalized": webhookBodySchema("report.finalized", "ReportFinalizedWebhook", ReportFinalizedEventData, {
    sequence: 1,
    data: {
      locationId: webhookExample.locationId,
      reportId: "dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
      tillId: head.tillId,
      revision: 1,
      reportVersion: 1,
      reportNumber: 24,
      startedAt: "2026-05-29T08:02:11.000Z",
      finalizedAt: "2026-05-29T21:41:50.000Z",
      totalSales: 3430,
      orderIds: [head.id],
    },
  }),
  "endpoint.failing": webhookBodySchema("endpoint.failing", "EndpointFailingWebhook", EndpointFailingEventData, {
    sequence: null,
    data: endpointExample,
  }),
  "endpoint.disabled": webhookBodySchema("endpoint.disabled", "EndpointDisabledWebhook", EndpointDisabledEventData, {
    sequence: null,
    data: { ...endpointExample, reason: "failing" },
  }),
  test: webhookBodySchema("test", "TestWebhook", testMessageData, {
    sequence: null,
    data: {
      locationId: webhookExample.locationId,
      webhookId: webhookExample.id,
      message: "It works.",
    },
  }),
} as const;

/** The body of a message: what it is of, and what it tells. */
export type WebhookBody = {
  [Event in WebhookEventName]: z.infer<(typeof webhookBodySchemas)[Event]>;
}[WebhookEventName];

/** What a message of an event tells. */
export type WebhookData<Event extends WebhookEventName> = z.infer<(typeof webhookBodySchemas)[Event]>["data"];
