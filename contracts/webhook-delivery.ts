import { array, object, z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import { deliveryRecoveryExample, webhookDeliveryExample } from "./examples/webhook.ts";
import { boundedString, field } from "./fields.ts";
import { checkSinceIsNotAfterUntil, dayOrInstantQueryParameter } from "./pagination.ts";
import { webhookEventNames } from "./webhook.ts";

export const webhookDeliveryStates = ["pending", "sending", "succeeded", "failed"] as const;

export type WebhookDeliveryState = (typeof webhookDeliveryStates)[number];

export const WebhookDelivery = object({
  id: field.uuid("ID of the delivery"),
  createdAt: field.dateTime("When the delivery was created"),
  webhookId: field.uuid("ID of the webhook"),
  messageId: field.uuid(
    "ID of the message, which the endpoint receives in the `webhook-id` header. The ID is the same for every attempt and every webhook.",
  ),
  event: z.enum(webhookEventNames).describe("Name of the event that the message is about"),
  state: z.enum(webhookDeliveryStates).meta({
    description:
      "State of the delivery. `pending`: the next attempt is due at `nextAttemptAt`. `sending`: an attempt is in progress. `succeeded`: an attempt succeeded. `failed`: all attempts failed.",
  }),
  nextAttemptAt: field.nullableDateTime(
    "Time of the next attempt if the webhook is active; null unless the delivery is pending",
  ),
  settledAt: field.nullableDateTime(
    "When the delivery succeeded, or when its final attempt failed; null if neither has happened yet. While a replay or recovery of the delivery is in progress, this is still the time of the earlier result.",
  ),
}).meta({ id: "Delivery", description: "Delivery of one message to one webhook", example: webhookDeliveryExample });

export type WebhookDelivery = z.infer<typeof WebhookDelivery>;

const WebhookSignatureHeaders = object({
  "webhook-id": field.uuid("ID of the message"),
  "webhook-timestamp": field.text("When the request was signed, in seconds since 1970"),
  "webhook-signature": field.text("One signature for each secret that was active, separated by spaces"),
});

export const WebhookDeliveryAttempt = object({
  generation: field.positiveInteger(
    "1 for the original delivery, incremented each time the delivery is replayed or recovered",
  ),
  number: field.positiveInteger("Number of the attempt within its generation, starting at 1"),
  startedAt: field.dateTime("When the attempt started"),
  milliseconds: field.nullableCount(
    "Duration of the attempt in milliseconds; null while it is in progress or if unknown",
  ),
  signatureHeaders: WebhookSignatureHeaders.nullable().meta({
    description:
      "Headers that identified and signed the request, to [verify its signature](/docs/webhooks#verifying-signatures) again; null if no request was sent, if its result is unknown, or if personal data was erased from the message since",
  }),
  status: field.nullableInteger("HTTP status code of the response; null if there was no response"),
  error: field.nullableText("Reason for the failure; null if the attempt succeeded or is in progress"),
  response: field.nullableText("First 20 KB of the response body; null if there was no response"),
  nextAttemptAt: field.nullableDateTime("Scheduled time of the next attempt; null if no attempt is scheduled"),
}).meta({ id: "Attempt", description: "One attempt to send the message of a delivery" });

export type WebhookDeliveryAttempt = z.infer<typeof WebhookDeliveryAttempt>;

export const WebhookDeliveryDetails = WebhookDelivery.extend({
  attempts: array(WebhookDeliveryAttempt).describe(
    "The latest 1,000 attempts, oldest first, including any attempt in progress",
  ),
  payload: z.record(z.string(), z.unknown()).describe("Body of the message, as sent to the endpoint"),
}).meta({
  id: "DeliveryDetails",
  description: "A delivery with its attempts and its payload",
  example: {
    ...webhookDeliveryExample,
    attempts: [
      {
        generation: 1,
        number: 1,
        startedAt: "2026-05-29T10:31:12.480Z",
        milliseconds: 61,
        signatureHeaders: {
          "webhook-id": webhookDeliveryExample.messageId,
          "webhook-timestamp": "1780050672",
          "webhook-signature": "v1,2fQxN8XpLkVh0mJbY6cT4sRw9uEaZ1gD7iOqKtFyHnU=",
        },
        status: 503,
        error: "The endpoint responded with status 503.",
        response: "down for maintenance",
        nextAttemptAt: "2026-05-29T10:31:17.702Z",
      },
      {
        generation: 1,
        number: 2,
        startedAt: "2026-05-29T10:31:17.711Z",
        milliseconds: 43,
        signatureHeaders: {
          "webhook-id": webhookDeliveryExample.messageId,
          "webhook-timestamp": "1780050677",
          "webhook-signature": "v1,Qk3vB5nMz8rWx1yTd0pJ7hLf2cGs9aUeV6oIiKjNtRY=",
        },
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

const maxReplayedDeliveries = 1_000;

export const ReplayDeliveriesRequest = object({
  webhookId: z.guid().optional().meta({ description: "Replays only deliveries to the webhook with this ID." }),
  event: z.enum(webhookEventNames).optional().describe("Replays only deliveries of this event type."),
  state: z.enum(["failed", "succeeded", "pending"]).default("failed").describe("State of the deliveries to replay"),
  since: dayOrInstantQueryParameter(
    "Replays only deliveries that were created on or after this day in the location's time zone, or at or after this date-time.",
  ),
  until: dayOrInstantQueryParameter(
    "Replays only deliveries that were created on or before this day in the location's time zone, or at or before this date-time.",
  ),
  limit: z.int().min(1).max(maxReplayedDeliveries).default(100).describe("Maximum number of deliveries to replay"),
  pageToken: boundedString(1000)
    .optional()
    .meta({ description: "`nextPageToken` of the previous response, to replay the deliveries after those" }),
  locationId: z
    .guid()
    .optional()
    .meta({ description: "ID of the location of the webhooks. Defaults to the API key's location." }),
})
  .check(checkSinceIsNotAfterUntil)
  .meta({ id: "ReplayDeliveries", example: { event: "order.paid", since: "2026-05-28", limit: 500 } });

export const ReplayedDeliveries = object({
  replayedCount: field.count("Number of deliveries that are replayed"),
  remainingCount: field.count("Number of later deliveries that match, which are not replayed because of the limit"),
  nextPageToken: field.nullableText(
    "Token of the deliveries that remain; null if none remain. Send it as `pageToken` with the same filters.",
  ),
}).meta({
  id: "ReplayedDeliveries",
  description: "Numbers of deliveries that are replayed, and that remain",
  example: { replayedCount: 42, remainingCount: 0, nextPageToken: null },
});

export type ReplayedDeliveries = z.infer<typeof ReplayedDeliveries>;

export const RecoverDeliveriesRequest = object({
  since: RequestDateTime.meta({
    description: "Start of the recovery period. Deliveries that were created before this time are not recovered.",
    example: "2026-05-28T00:00:00.000Z",
  }),
}).meta({ id: "RecoverDeliveries", example: { since: "2026-05-28T00:00:00.000Z" } });

export const WebhookDeliveryRecovery = object({
  id: field.uuid("ID of the recovery"),
  createdAt: field.dateTime("When the recovery was requested"),
  webhookId: field.uuid("ID of the webhook whose deliveries are recovered"),
  since: field.dateTime(
    "Start of the recovery period. Deliveries that were created before this time are not recovered.",
  ),
  state: z.enum(["running", "done"]).describe("State of the recovery"),
  total: field.count(
    "Number of deliveries that had failed or were waiting for another attempt when the recovery started",
  ),
  recovered: field.count(
    "Number of deliveries recovered so far. Deliveries with an attempt in progress are included, because they are retried if the attempt fails. Deliveries that succeeded in the meantime are not included.",
  ),
  finishedAt: field.nullableDateTime("When the recovery was done; null while it is running"),
}).meta({
  id: "Recovery",
  description: "Recovery of the failed deliveries of a webhook",
  example: deliveryRecoveryExample,
});

export type WebhookDeliveryRecovery = z.infer<typeof WebhookDeliveryRecovery>;
