import { z } from "zod";
import { DateTime, UtcDateTime } from "./date-time.ts";
import { webhookDeliveryExample, webhookDeliveryRecoveryExample } from "./examples/webhook.ts";
import { webhookEventNames } from "./webhook.ts";

export const webhookDeliveryStates = ["pending", "sending", "succeeded", "failed"] as const;

export type WebhookDeliveryState = (typeof webhookDeliveryStates)[number];

/** One message on its way to one webhook. */
export const WebhookDelivery = z
  .object({
    id: z.guid().meta({ description: "Id of the delivery" }),
    createdAt: UtcDateTime,
    webhookId: z.guid().meta({ description: "The webhook that it is for" }),
    messageId: z.guid().meta({
      description: "Id of the message, as its receiver sees it: the same for every attempt and every webhook",
    }),
    event: z.enum(webhookEventNames).meta({ description: "What it tells of" }),
    state: z.enum(webhookDeliveryStates).meta({
      description:
        "pending: to be sent, or sent again, at nextAttemptAt; sending: an attempt is under way; succeeded; failed: no attempt is left",
    }),
    nextAttemptAt: UtcDateTime.nullable().meta({
      description: "When it is sent next, provided that the webhook is active; null unless it is pending",
    }),
    settledAt: UtcDateTime.nullable().meta({ description: "When it last succeeded or failed for good" }),
  })
  .meta({ id: "Delivery", description: "One message on its way to one webhook", example: webhookDeliveryExample });

export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

/** One try to deliver. */
export const WebhookDeliveryAttempt = z
  .object({
    generation: z
      .int()
      .min(1)
      .meta({ description: "1 at first, one more each time that the delivery is made again on request" }),
    number: z.int().min(1).meta({ description: "Counts the attempts of its generation" }),
    startedAt: UtcDateTime,
    milliseconds: z
      .int()
      .min(0)
      .nullable()
      .meta({ description: "How long it took; null while it is under way, and when nobody knows" }),
    status: z.int().nullable().meta({ description: "HTTP status of the response; null while there is none" }),
    error: z
      .string()
      .nullable()
      .meta({ description: "Why it failed; null when it succeeded, and while it is under way" }),
    response: z.string().nullable().meta({ description: "The response's body, its first 20 KB" }),
    nextAttemptAt: UtcDateTime.nullable().meta({
      description: "When the next one was planned; null without a next one",
    }),
  })
  .meta({ id: "Attempt", description: "One try to deliver" });

export type WebhookDeliveryAttempt = z.infer<typeof WebhookDeliveryAttempt>;

/** A delivery with all that happened to it. */
export const WebhookDeliveryDetails = WebhookDelivery.extend({
  attempts: z
    .array(WebhookDeliveryAttempt)
    .meta({ description: "Every attempt, in order: also the one that is under way while the state is sending" }),
  payload: z.record(z.string(), z.unknown()).meta({ description: "The body that is sent" }),
}).meta({
  id: "DeliveryDetails",
  description: "A delivery with its attempts and what is sent",
  example: {
    ...webhookDeliveryExample,
    attempts: [
      {
        generation: 1,
        number: 1,
        startedAt: "2026-05-29T10:31:12.480Z",
        milliseconds: 61,
        status: 503,
        error: "The endpoint answered 503.",
        response: "down for maintenance",
        nextAttemptAt: "2026-05-29T10:31:17.702Z",
      },
      {
        generation: 1,
        number: 2,
        startedAt: "2026-05-29T10:31:17.711Z",
        milliseconds: 43,
        status: 204,
        error: null,
        response: "",
        nextAttemptAt: null,
      },
    ],
    payload: {
      meta: {
        id: webhookDeliveryExample.messageId,
        event: "order.paid",
        emittedAt: "2026-05-29T10:31:12.391Z",
        sequence: 3,
      },
      data: { id: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9", isPaid: true },
    },
  },
});

export type WebhookDeliveryDetails = z.infer<typeof WebhookDeliveryDetails>;

export const RecoverWebhookDeliveries = z
  .object({
    since: DateTime.meta({ description: "Deliveries of events since then", example: "2026-05-28T00:00:00.000Z" }),
  })
  .meta({ id: "RecoverDeliveries", example: { since: "2026-05-28T00:00:00.000Z" } });

/** The work of making again all deliveries of a webhook that failed. */
export const WebhookDeliveryRecovery = z
  .object({
    id: z.guid().meta({ description: "Id of the recovery" }),
    createdAt: UtcDateTime,
    webhookId: z.guid().meta({ description: "The webhook whose deliveries are made again" }),
    since: UtcDateTime.meta({ description: "Deliveries of events since then" }),
    state: z.enum(["running", "done"]),
    total: z
      .int()
      .min(0)
      .meta({ description: "Deliveries that had failed, or waited for another attempt, when it began" }),
    recovered: z.int().min(0).meta({
      description:
        "Deliveries that are due again so far, or will be as soon as the attempt that is under way fails. What has succeeded by itself in the meantime is not among them",
    }),
    finishedAt: UtcDateTime.nullable(),
  })
  .meta({ id: "Recovery", description: "Making again what failed", example: webhookDeliveryRecoveryExample });

export type WebhookDeliveryRecovery = z.infer<typeof WebhookDeliveryRecovery>;
