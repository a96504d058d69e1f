import { object, z } from "zod";
import { boundedArray, field } from "./fields.ts";
import { serviceNames } from "./service-names.ts";

export const ServiceNameSchema = z.enum(serviceNames, { error: `Must be one of: ${serviceNames.join(", ")}` }).meta({
  description: "Name of a service of the API",
  example: "reporting",
});

const deadLetterExample = {
  eventId: "3a1f0f52-9c0b-4f6e-8f0d-2f7f8f0f6a10",
  type: "till.pushed",
  subscription: "till.pushed",
  subject: "8a8d3a54-7b86-4d3e-a9f4-12f0f7b3f6d2",
  locationId: "7f6ec2b0-44f5-4df2-a1cb-3e8f2c0a9d11",
  reason: "Error: The object of the till is missing.",
  deadLetteredAt: "2026-05-29T10:17:19.000Z",
};

export const DeadLetter = object({
  eventId: field.uuid("ID of the event"),
  type: field.text("Type of the event, such as `till.pushed`"),
  subscription: field.text("Subscription of the service that could not process the event"),
  subject: field.nullableText("ID of what the event is about, such as a till; null if it has none"),
  locationId: field.nullableUuid("ID of the event's location; null if it has none"),
  reason: field.text("Error with which the last attempt failed"),
  deadLetteredAt: field.dateTime("When the last attempt failed"),
}).meta({
  id: "DeadLetter",
  description:
    "An internal event that a service could not process, and that does not block the events after it. It is stored until a retry succeeds, or until a newer event makes it obsolete",
  example: deadLetterExample,
});

export type DeadLetter = z.infer<typeof DeadLetter>;

/** More than the subscriptions of one service to one event. */
const maxRetriesPerEvent = 20;

export const RetriedDeadLetters = object({
  retries: boundedArray(
    object({
      subscription: DeadLetter.shape.subscription,
      isDone: field.boolean("Whether the event was processed, and its dead letter deleted"),
      reason: field.nullableText("Error with which the retry failed; null if the event was processed"),
    }),
    maxRetriesPerEvent,
  ).describe("Result for each dead letter of the event; empty if the service has none of them"),
}).meta({
  id: "RetriedDeadLetters",
  description: "Results of a retry of the dead letters of an event",
  example: { retries: [{ subscription: deadLetterExample.subscription, isDone: true, reason: null }] },
});

export type RetriedDeadLetters = z.infer<typeof RetriedDeadLetters>;
