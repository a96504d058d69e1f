import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { webhookExample } from "./examples/webhook.ts";
import { boundedArray, boundedString, rejectUnstorableText } from "./fields.ts";

/** What a webhook can be told of. */
const subscribableEvents = {
  "order.call": "An order was opened, or what was ordered changed",
  "order.paid": "An order was paid",
  "order.canceled": "An order was canceled",
  "order.transferred": "An order was transferred to a hotel's property-management system",
  "report.finalized": "A till has its end-of-day report",
  "endpoint.failing": "Another endpoint of the recipient has been failing for days",
  "endpoint.disabled": "Another endpoint of the recipient is sent nothing any more",
} as const;

type SubscribableEvent = keyof typeof subscribableEvents;

const subscribableEventNames = Object.keys(subscribableEvents) as [SubscribableEvent, ...SubscribableEvent[]];

/** Everything that is sent: what can be subscribed to, and tests. */
export const webhookEventDescriptions = { ...subscribableEvents, test: "Somebody tests the webhook" } as const;

export type WebhookEventName = keyof typeof webhookEventDescriptions;

export const webhookEventNames = Object.keys(webhookEventDescriptions) as [WebhookEventName, ...WebhookEventName[]];

const events = boundedArray(
  z.enum(subscribableEventNames, { error: `Must be one of: ${subscribableEventNames.join(", ")}` }),
  100,
  { min: 1 },
)
  .overwrite((names) => [...new Set(names)])
  .meta({
    description:
      "What it is told of. Of the recipient's other endpoints it is told endpoint.failing and endpoint.disabled, named here or not",
    example: webhookExample.events,
  });

const endpointUrl = boundedString(2_048, { min: 1 }).meta({
  description: "Where messages are posted",
  example: webhookExample.endpointUrl,
  format: "uri",
});

/** A webhook to make, or to change when there is one of this id. */
export const UpsertWebhook = rejectUnstorableText(
  z.object({
    id: z
      .guid()
      .optional()
      .meta({ description: "Id of the webhook; one is made when it is left out", example: webhookExample.id }),
    locationId: z.guid().optional().meta({ description: "The location that it is told of; the key's own if left out" }),
    recipientId: z.guid().meta({ description: "Whose secret signs; a recipient of the same location" }),
    endpointUrl,
    events,
  }),
).meta({
  id: "UpsertWebhook",
  description: "A webhook to make, or to change when there is one of this id",
  example: {
    recipientId: webhookExample.recipientId,
    endpointUrl: webhookExample.endpointUrl,
    events: webhookExample.events,
  },
});

export type UpsertWebhook = z.infer<typeof UpsertWebhook>;

const webhookStates = ["active", "paused", "disabled"] as const;

/** Why a webhook was disabled. */
const webhookDisabledReasons = {
  gone: "The endpoint answered 410",
  failing: "Nothing but failures for five days",
} as const;

export type WebhookDisabledReason = keyof typeof webhookDisabledReasons;

export const webhookDisabledReasonSchema = z.enum(
  Object.keys(webhookDisabledReasons) as [WebhookDisabledReason, ...WebhookDisabledReason[]],
);

/** A subscription: which events of a location are posted where. */
export const Webhook = z
  .object({
    id: z.guid().meta({ description: "Id of the webhook" }),
    createdAt: UtcDateTime,
    updatedAt: UtcDateTime,
    locationId: z.guid().meta({ description: "The location that it is told of" }),
    recipientId: z.guid().meta({ description: "Whose secret signs" }),
    endpointUrl,
    events,
    state: z.enum(webhookStates).meta({
      description:
        "Messages are sent while it is active. Those for one that is paused or disabled are kept, and sent once it is resumed",
    }),
    disabledReason: webhookDisabledReasonSchema.nullable().meta({
      description: "gone: the endpoint answered 410; failing: nothing but failures for five days",
    }),
    failingSince: UtcDateTime.nullable().meta({
      description: "When the first attempt failed since the last that succeeded; null when the last one did",
    }),
    lastError: z.string().nullable().meta({ description: "Why the latest attempt since then failed" }),
  })
  .meta({
    id: "Webhook",
    description: "Which events of a location are posted where",
    example: webhookExample,
  });

export type Webhook = z.infer<typeof Webhook>;

const attemptCount = z.int().min(0);

/** A webhook with how its deliveries go. */
export const WebhookDetails = Webhook.extend({
  statistics: z
    .object({
      pending: z
        .int()
        .min(0)
        .max(10_000)
        .meta({ description: "Deliveries that are yet to be made: up to 10,000 are counted" }),
      lastDay: z
        .object({
          succeeded: attemptCount.meta({ description: "Attempts that succeeded" }),
          failed: attemptCount.meta({ description: "Attempts that failed" }),
          averageMilliseconds: z
            .int()
            .min(0)
            .nullable()
            .meta({ description: "How long an attempt took; null without any" }),
        })
        .meta({ description: "The last 24 hours, from full hour to full hour" }),
      lastSucceededAt: UtcDateTime.nullable().meta({ description: "When an attempt last succeeded" }),
      lastFailedAt: UtcDateTime.nullable().meta({ description: "When an attempt last failed" }),
    })
    .meta({ description: "How its deliveries go" }),
}).meta({
  id: "WebhookDetails",
  description: "A webhook with how its deliveries go",
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

export type WebhookDetails = z.infer<typeof WebhookDetails>;
