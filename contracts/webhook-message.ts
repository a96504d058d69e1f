import { array, object, z } from "zod";
import { Day, notifiedDayStates } from "./day.ts";
import { eReportKind } from "./e-report.ts";
import { orderLiveInputExample } from "./examples/order-live.ts";
import { webhookDeliveryExample, webhookExample } from "./examples/webhook.ts";
import { field } from "./fields.ts";
import { LiveOrderInEvent, OrderLiveInput } from "./order-live.ts";
import type { PosOrderProductRow } from "./order-rows.ts";
import { type WebhookEventName, webhookDisabledReasonSchema } from "./webhook.ts";

/** The headers that identify and authenticate a message. */
export const webhookMessageHeadersSchema = object({
  "webhook-id": z.guid().meta({
    description: "ID of the message, the same for every attempt. Use it for deduplication.",
    example: webhookDeliveryExample.messageId,
  }),
  "webhook-timestamp": z.string().regex(/^\d+$/).meta({
    description:
      "Time of this attempt as a Unix timestamp in seconds. Reject the message if the timestamp differs from the current time by more than five minutes.",
    example: "1780050672",
  }),
  "webhook-signature": z.string().meta({
    description:
      "Space-separated signatures, one for each active secret of the recipient. Each signature is `v1,` followed by the base64-encoded HMAC-SHA256 of `webhook-id`, `webhook-timestamp` and the body, joined by periods. The key is the UTF-8 bytes of the secret. Standard Webhooks libraries can verify these signatures.",
    example: "v1,eZ5Gd3lgHB0i7o1p2mmm9HhiYpsX2YtQx1bUqyqzv3Y=",
  }),
  "x-popina-webhook-id": z
    .guid()
    .meta({ description: "Same as `webhook-id`", example: webhookDeliveryExample.messageId }),
  "x-popina-webhook-event": z
    .string()
    .meta({ description: "Name of the event that the message is about", example: "order.paid" }),
  "x-popina-hmac-signature": z.string().meta({
    description:
      "Hexadecimal HMAC-SHA256 of the body. The key is the UTF-8 bytes of the recipient's oldest active secret.",
    example: "3b0c7b6f9c6d4f7c8a2e6f3f1f0b2f4c5d6e7f8091a2b3c4d5e6f708192a3b4c",
  }),
});

/** A product row with the additional fields of webhook messages. Stock systems use these fields. */
const webhookProductRow = LiveOrderInEvent.shape.productRowList.element
  .extend({
    productCatalogId: field.nullableText(
      "Catalog ID of the product, the same as `productId`; null for a temporary product, which is not in the catalog",
    ),
    stockImpactIndicator: field.boolean(
      "Whether the row affects stock. False for the child rows of a split bill, so that each product is counted once.",
    ),
  })
  .meta({ id: "WebhookProductRow", description: "A product in an order, with fields for counting stock" });

const webhookMenuRow = LiveOrderInEvent.shape.menuRowList.element
  .extend({ productRowList: array(webhookProductRow).describe("Products in the menu") })
  .meta({ id: "WebhookMenuRow", description: "A set menu in an order, with fields for counting stock" });

const WebhookOrder = LiveOrderInEvent.extend({
  productRowList: array(webhookProductRow).describe("Products of the order that are not part of a set menu"),
  menuRowList: array(webhookMenuRow).describe("Set menus of the order"),
}).meta({ id: "WebhookOrder", description: "An order, with fields for counting stock" });

export type WebhookOrder = z.infer<typeof WebhookOrder>;

/** Converts the order of an event to an order for webhook messages: adds the stock fields to each product row. */
export function toWebhookOrder(order: LiveOrderInEvent): WebhookOrder {
  return {
    ...order,
    productRowList: order.productRowList.map(withStockFields),
    menuRowList: order.menuRowList.map((menu) => ({
      ...menu,
      productRowList: menu.productRowList.map(withStockFields),
    })),
  };
}

function withStockFields<Row extends Pick<PosOrderProductRow, "productId" | "parentProductRowId">>(row: Row) {
  return { ...row, productCatalogId: row.productId, stockImpactIndicator: row.parentProductRowId === null };
}

/** The data of `report.finalized`, between services and in webhook messages. */
export const ReportFinalizedEventData = object({
  locationId: field.uuid("ID of the location"),
  reportId: field.uuid("ID of the report"),
  tillId: field.uuid("ID of the till"),
  revision: field.positiveInteger(
    "Revision of the till: 1 for the first push, incremented by each replacement or reprocessing",
  ),
  reportVersion: field.positiveInteger("Version of the calculation that produced the report"),
  reportNumber: field.integer("Sequential number of the report, assigned by the point of sale"),
  startedAt: field.dateTime("When the shift began"),
  finalizedAt: field.dateTime("When the shift was closed"),
  totalSales: field.integer(
    "Total sales of the shift, including VAT, in minor units (1400 means 14.00 EUR, or 1400 JPY)",
  ),
  orderIds: array(z.guid()).describe("IDs of all orders of the till, except training orders"),
}).describe("IDs, times and total sales of the report");

/** The data of `day.closed` and `day.incomplete`, between services and in webhook messages. */
export const DayStateEventData = object({
  locationId: field.uuid("ID of the location"),
  day: Day.shape.day,
  dayRevision: Day.shape.dayRevision.describe("Increases each time the day changes"),
  state: Day.shape.state.extract([...notifiedDayStates]).meta({
    description:
      "`closed`: no shift of the day is open, and nothing is known to be missing. `incomplete`: see `reasons`.",
  }),
  reasons: Day.shape.reasons,
  tillCount: Day.shape.tillCount,
  totalSales: field.nullableInteger(
    "Total sales of the day, including VAT, in minor units; null if they are not added up",
  ),
}).describe("State, reasons and total sales of the day");

/** The data of `e_report.ready` and `e_report.changed`, between services and in webhook messages. */
export const EReportEventData = object({
  locationId: field.uuid("ID of the location"),
  siren: field.text("SIREN of the business"),
  kind: eReportKind,
  period: field.date("First day of the period, which identifies it"),
  until: field.date("Last day of the period"),
  dueOn: field.date("Last day to send the report. It can also be sent later."),
}).describe("Business, period and due date of the e-report");

export const EndpointFailingData = object({
  locationId: field.uuid("ID of the location"),
  webhookId: field.uuid("ID of the webhook whose endpoint failed"),
  endpointUrl: field.text("URL of the endpoint that failed"),
  failingSince: field.dateTime("Time of the first failed attempt after the last successful attempt"),
  lastError: field.text("Error from the most recent failed attempt"),
}).describe("URL and latest error of the endpoint");

export const EndpointDisabledData = EndpointFailingData.extend({
  reason: webhookDisabledReasonSchema.describe(
    "Reason why the webhook was disabled. `gone`: the endpoint responded with status 410. `failing`: all attempts failed for five days.",
  ),
}).describe("URL and latest error of the endpoint, and the reason why its webhook was disabled");

const TestMessageData = object({
  locationId: field.uuid("ID of the location"),
  webhookId: field.uuid("ID of the tested webhook"),
  message: field.text("A short text"),
}).describe("ID of the tested webhook, and a short text");

function webhookBodySchema<Event extends WebhookEventName, Data extends z.ZodType>(
  event: Event,
  data: Data,
  sequenceExample: number | null,
  dataExample: unknown,
) {
  const meta = object({
    id: field.uuid("ID of the message, the same for every attempt. Use it for deduplication."),
    event: z.literal(event).describe("Name of the event that the message is about"),
    emittedAt: field.dateTime("When the event occurred"),
    sequence: field.nullableInteger(
      "Sequence number of the message; null if the event concerns neither an order nor a report or a day. Messages about the same order can arrive out of sequence, but the message with the highest number is always the most recent. For a report, the number is the revision of the till. For a day, it is the revision of the day.",
    ),
  }).describe("Metadata of the message");
  const name = event.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const head = { id: webhookDeliveryExample.messageId, event, emittedAt: "2026-05-29T10:31:12.391Z" };
  return object({ meta, data }).meta({
    id: `${name.join("")}Webhook`,
    description: `Body of a message about the event \`${event}\``,
    example: { meta: { ...head, sequence: sequenceExample }, data: dataExample },
  });
}

const { locationId } = webhookExample;
const changedAt = "2026-05-29T10:31:12.000Z";
const { data: openOrder, ...head } = OrderLiveInput.parse(orderLiveInputExample);
const orderExample = toWebhookOrder({
  ...head,
  ...openOrder,
  tillId: head.tillId,
  revisionHash: head.revisionHash,
  locationId,
});
const reportExample = {
  locationId,
  reportId: "dc0c0667-eb87-584d-8e25-b0b7f75fed3a",
  tillId: head.tillId,
  revision: 1,
  reportVersion: 1,
  reportNumber: 24,
  startedAt: "2026-05-29T08:02:11.000Z",
  finalizedAt: "2026-05-29T21:41:50.000Z",
  totalSales: 3430,
  orderIds: [head.id],
};
const dayExample = {
  locationId,
  day: "2026-05-29",
  dayRevision: 2,
  state: "closed",
  reasons: [],
  tillCount: 2,
  totalSales: 922_244,
};
const eReportExample = {
  locationId,
  siren: "732829320",
  kind: "transactions" as const,
  ...{ period: "2027-09-01", until: "2027-09-10", dueOn: "2027-09-20" },
};
const endpointExample = {
  locationId,
  webhookId: "4b0f5b5d-64f2-4d0b-9d5e-35c2b6a0d6f6",
  endpointUrl: "https://stock.example/webhooks/other",
  failingSince: "2026-05-24T10:31:12.391Z",
  lastError: "The endpoint refused the connection.",
};

/** The schema of the message body for each event. */
export const webhookBodySchemas = {
  "order.call": webhookBodySchema("order.call", WebhookOrder, 1, orderExample),
  "order.paid": webhookBodySchema("order.paid", WebhookOrder, 3, {
    ...orderExample,
    ...{ isPaid: true, paidAt: changedAt, leftToPay: 0 },
  }),
  "order.canceled": webhookBodySchema("order.canceled", WebhookOrder, 2, {
    ...orderExample,
    ...{ isCanceled: true, canceledAt: changedAt, canceledReason: "Erreur de saisie" },
  }),
  "order.transferred": webhookBodySchema("order.transferred", WebhookOrder, 2, {
    ...orderExample,
    ...{ isTransferred: true, transferredAt: changedAt, transferredTo: "Chambre 12" },
  }),
  "report.finalized": webhookBodySchema("report.finalized", ReportFinalizedEventData, 1, reportExample),
  "report.replaced": webhookBodySchema("report.replaced", ReportFinalizedEventData, 2, {
    ...reportExample,
    revision: 2,
  }),
  "day.closed": webhookBodySchema("day.closed", DayStateEventData, 2, dayExample),
  "day.incomplete": webhookBodySchema("day.incomplete", DayStateEventData, 3, {
    ...{ ...dayExample, dayRevision: 3, state: "incomplete" },
    reasons: [{ code: "report_number_gap", message: "Report numbers that are missing: 1." }],
  }),
  "e_report.ready": webhookBodySchema("e_report.ready", EReportEventData, null, eReportExample),
  "e_report.changed": webhookBodySchema("e_report.changed", EReportEventData, null, eReportExample),
  "endpoint.failing": webhookBodySchema("endpoint.failing", EndpointFailingData, null, endpointExample),
  "endpoint.disabled": webhookBodySchema("endpoint.disabled", EndpointDisabledData, null, {
    ...endpointExample,
    reason: "failing",
  }),
  test: webhookBodySchema("test", TestMessageData, null, {
    locationId,
    webhookId: webhookExample.id,
    message: "It works.",
  }),
} as const;

export type WebhookMessageBody = {
  [Event in WebhookEventName]: z.infer<(typeof webhookBodySchemas)[Event]>;
}[WebhookEventName];

export type WebhookMessageData<Event extends WebhookEventName> = z.infer<(typeof webhookBodySchemas)[Event]>["data"];
