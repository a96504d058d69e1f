import { object, z } from "zod";
import { webhookExample } from "./examples/webhook.ts";
import { boundedArray, boundedString, field, requestBodySchema } from "./fields.ts";

/** The events that a webhook can subscribe to, with their descriptions. */
const subscribableEvents = {
  "order.call": "An order was opened or reopened, or its products or menus changed",
  "order.paid": "An order was paid",
  "order.canceled": "An order was canceled",
  "order.transferred": "An order was transferred to a hotel's property management system",
  "report.finalized": "The end-of-day report of a till is available",
  "report.replaced": "The end-of-day report of a till was computed again, for example because the till was replaced",
  "day.closed": "A business day became closed: no report is known to be missing",
  "day.incomplete": "A business day became incomplete: something is missing",
  "e_report.ready": "An e-report of the location's business can be taken",
  "e_report.changed": "The figures of an e-report that was taken have changed",
  "endpoint.failing": "Another endpoint of the recipient has been failing for two and a half days",
  "endpoint.disabled": "Another endpoint of the recipient was disabled",
} as const;

type SubscribableEvent = keyof typeof subscribableEvents;

const subscribableEventNames = Object.keys(subscribableEvents) as [SubscribableEvent, ...SubscribableEvent[]];

/** The events of webhook messages, with their descriptions: the events above, and `test`. */
export const webhookEventDescriptions = { ...subscribableEvents, test: "A test message was requested" } as const;

export type WebhookEventName = keyof typeof webhookEventDescriptions;

export const webhookEventNames = Object.keys(webhookEventDescriptions) as [WebhookEventName, ...WebhookEventName[]];

const events = boundedArray(
  z.enum(subscribableEventNames, `Must be one of: ${subscribableEventNames.join(", ")}`),
  100,
  { min: 1 },
)
  .overwrite((names) => [...new Set(names)])
  .meta({
    description:
      "Events to which the webhook subscribes. The endpoint also receives `endpoint.failing` and `endpoint.disabled` events about the recipient's other endpoints, even if these events are not in this list.",
    example: webhookExample.events,
  });

const endpointUrl = boundedString(2_048, { min: 1 }).meta({
  description: "URL to which messages are sent as POST requests",
  example: webhookExample.endpointUrl,
  format: "uri",
});

export const UpsertWebhookRequest = requestBodySchema({
  id: z.guid().optional().meta({ description: "ID of the webhook. Generated if omitted.", example: webhookExample.id }),
  locationId: z
    .guid()
    .optional()
    .describe("ID of the location whose events are sent. Defaults to the API key's location."),
  recipientId: field.uuid(
    "ID of the recipient, whose secret signs the messages. The recipient must belong to the same location as the webhook.",
  ),
  endpointUrl,
  events,
}).meta({
  id: "UpsertWebhook",
  description: "A webhook to create, or to update if a webhook with this ID exists",
  example: {
    recipientId: webhookExample.recipientId,
    endpointUrl: webhookExample.endpointUrl,
    events: webhookExample.events,
  },
});

export type UpsertWebhookRequest = z.infer<typeof UpsertWebhookRequest>;

/** `gone`: the endpoint responded with status 410. `failing`: all attempts failed for five days. */
export const webhookDisabledReasonSchema = z.enum(["gone", "failing"]);

export type WebhookDisabledReason = z.infer<typeof webhookDisabledReasonSchema>;

export const Webhook = object({
  id: field.uuid("ID of the webhook"),
  createdAt: field.dateTime("When the webhook was created"),
  updatedAt: field.dateTime("When the webhook was last updated"),
  locationId: field.uuid("ID of the location whose events are sent"),
  recipientId: field.uuid("ID of the recipient, whose secret signs the messages"),
  endpointUrl,
  events,
  state: z.enum(["active", "paused", "disabled"]).meta({
    description:
      "State of the webhook. Messages are sent while the webhook is active. Messages for a paused or disabled webhook are stored, and are sent after the webhook is resumed.",
  }),
  disabledReason: webhookDisabledReasonSchema.nullable().meta({
    description:
      "Reason why the webhook is disabled. `gone`: the endpoint responded with status 410. `failing`: all attempts failed for five days. `null`: the webhook is not disabled.",
  }),
  failingSince: field.nullableDateTime(
    "Time of the first failed attempt after the last successful attempt; null if there is no such attempt. Resuming the webhook or changing its `endpointUrl` resets the value to null. Failed test messages do not count.",
  ),
  lastError: field.nullableText(
    "Error from the latest failed attempt, excluding test messages; null if `failingSince` is null",
  ),
}).meta({
  id: "Webhook",
  description: "An endpoint's subscription to events of a location",
  example: webhookExample,
});

export type Webhook = z.infer<typeof Webhook>;

export const WebhookWithDeliveryStatistics = Webhook.extend({
  statistics: object({
    pending: z.int().min(0).max(10_000).describe("Number of pending deliveries; 10,000 means 10,000 or more"),
    lastDay: object({
      succeeded: field.count("Number of successful attempts"),
      failed: field.count("Number of failed attempts"),
      averageMilliseconds: field.nullableCount(
        "Average duration of an attempt in milliseconds; null if there were no attempts",
      ),
    }).describe("Statistics for the attempts in the last 24 hours, starting from the first full hour of this period"),
    lastSucceededAt: field.nullableDateTime("Time of the last successful attempt; null if no attempt succeeded"),
    lastFailedAt: field.nullableDateTime("Time of the last failed attempt; null if no attempt failed"),
  }).describe(
    "Number of pending deliveries, statistics for recent attempts, and times of the last successful and the last failed attempt",
  ),
}).meta({
  id: "WebhookDetails",
  description: "A webhook with its delivery statistics",
  example: {
    ...webhookExample,
    statistics: {
      pending: 0,
      lastDay: { succeeded: 412, failed: 3, averageMilliseconds: 87 },
      lastSucceededAt: "2026-05-30T21:14:05.120Z",
      lastFailedAt: "2026-05-30T12:03:44.902Z",
    },
  },
});

export type WebhookWithDeliveryStatistics = z.infer<typeof WebhookWithDeliveryStatistics>;
