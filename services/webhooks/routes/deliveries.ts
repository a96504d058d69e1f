import { randomUUID } from "node:crypto";
import { DateTime } from "@pragma/contracts/date-time";
import { type Attempt, Delivery, DeliveryDetails, deliveryStates } from "@pragma/contracts/delivery";
import { ApiError } from "@pragma/contracts/errors";
import { deliveryExample } from "@pragma/contracts/examples/webhook";
import { dayInQuery, pageOf, pageQuery } from "@pragma/contracts/pagination";
import { sentEventNames } from "@pragma/contracts/webhook";
import { joinObjects, objectOf } from "@pragma/runtime/join-json";
import { afterCommit } from "@pragma/runtime/postgres";
import { json, taggedByContent } from "@pragma/runtime/reply";
import { replyWithNewest } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { leaseMs } from "../config.ts";
import { messageBody } from "../message-batcher.ts";
import { type DeliveryRow, deliveryColumns, isDelivery } from "../queries/deliveries.ts";
import { insertMessages } from "../queries/insert-messages.ts";
import type { Dated } from "../queries/rows.ts";
import { defineRoute } from "../webhooks.ts";
import { deliveryParams, readable, readableWebhook, webhookParams } from "./params.ts";

type DayOrInstant = { day: string } | { instant: string };

/** A day of the location's time zone, or an instant. */
const dayOrInstant = (description: string) =>
  z
    .union([dayInQuery.transform((day) => ({ day })), DateTime.transform((instant) => ({ instant }))], {
      error: "must be a day, written YYYY-MM-DD, or a date-time with an offset or Z",
    })
    .optional()
    .meta({ description, type: "string", example: "2026-05-29" });

const query = z.object({
  event: z.enum(sentEventNames).optional().meta({ description: "Deliveries of messages of this event" }),
  state: z.enum(deliveryStates).optional().meta({ description: "Deliveries in this state" }),
  since: dayOrInstant("Deliveries of this day of the location's time zone, or this date-time, and later"),
  until: dayOrInstant("Deliveries of this day of the location's time zone, or this date-time, and earlier"),
  ...pageQuery,
});

export const listDeliveriesRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/{id}/deliveries",
  operationId: "listDeliveries",
  summary: "List a webhook's deliveries",
  description: "The deliveries of a webhook, newest first. They are kept for 30 days.",
  request: { params: webhookParams, query },
  responses: { 200: { description: "A page of deliveries", schema: pageOf(Delivery) } },
  errors: ["webhook_not_found", "invalid_page_token"],
  async handle({ params, query, principal, services, context, url, origin }) {
    const webhook = await readableWebhook(services, params, principal);
    const { event, state, since, until } = query;
    const hasDays = [since, until].some((end) => end && "day" in end);
    const { location } = principal;
    const timeZone = !hasDays
      ? "UTC"
      : location?.id === webhook.locationId
        ? location.timeZone
        : (await services.locations.byId(webhook.locationId, context)).timeZone;
    const { sql } = services.db;
    const startOf = (end: DayOrInstant, daysLater = 0) =>
      "day" in end
        ? sql`((${end.day}::date + ${daysLater}::int)::timestamp at time zone ${timeZone})`
        : sql`${end.instant}::timestamptz`;
    const where = sql`
      webhook_id = ${webhook.id}
      ${event === undefined ? sql`` : sql`and event = ${event}`}
      ${state === undefined ? sql`` : sql`and state = ${state}`}
      ${since === undefined ? sql`` : sql`and created_at >= ${startOf(since)}`}
      ${until === undefined ? sql`` : sql`and created_at ${"day" in until ? sql`<` : sql`<=`} ${startOf(until, 1)}`}`;
    return replyWithNewest<DeliveryRow>({ query, url, origin }, sql, {
      columns: deliveryColumns(sql),
      table: sql`deliveries d`,
      where,
    });
  },
});

export const getDeliveryRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/deliveries/{id}",
  operationId: "getDelivery",
  summary: "Get a delivery",
  description: "A delivery, with every attempt, what was answered to it, and what is sent.",
  request: { params: deliveryParams },
  responses: {
    200: { description: "The delivery", schema: DeliveryDetails },
    304: { description: "The client has it already" },
  },
  errors: ["delivery_not_found"],
  async handle({ params, principal, services: { db, config }, header }) {
    const { sql } = db;
    const [found] = await sql<(DeliveryRow & { body: string })[]>`
      select ${deliveryColumns(sql)}, m.body from deliveries d, webhooks w, messages m
      where ${isDelivery(sql, readable(params, principal))} and m.id = d.message_id`;
    if (!found) throw new ApiError("delivery_not_found");
    const { body, ...delivery } = found;
    // The last thousand, and the one under way, which began when its delivery was claimed.
    const attempts = await sql<Dated<Attempt, "startedAt" | "nextAttemptAt">[]>`
      select * from (
        select
          generation, number, started_at, milliseconds, status, error, response, next_attempt_at
        from attempts where delivery_id = ${delivery.id}
        union all
        select
          generation, attempt, due_at - make_interval(secs => ${leaseMs(config) / 1_000}), null, null, null, null, null
        from deliveries where id = ${delivery.id} and state = 'sending'
        order by generation desc, number desc limit 1000
      ) latest order by generation, number`;
    // The text that is sent, as it is.
    const reply = joinObjects(JSON.stringify({ ...delivery, attempts }), objectOf("payload", body));
    return taggedByContent(reply, { ifNoneMatch: header("if-none-match") });
  },
});

export const replayDeliveryRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{id}/replay",
  operationId: "replayDelivery",
  summary: "Make a delivery again",
  description:
    "Sends the message again now, whatever became of it, and tries as often as for a new one. The message has the same id as before, by which a receiver tells that it has it already.",
  request: { params: deliveryParams },
  responses: {
    202: {
      description: "The delivery, which is on its way",
      schema: Delivery,
      example: { ...deliveryExample, state: "pending", nextAttemptAt: "2026-05-30T08:00:00.000Z" },
    },
  },
  errors: ["delivery_not_found", "delivery_under_way"],
  async handle({ params, principal, services: { db, clock, delivering } }) {
    const which = readable(params, principal);
    const delivery = await db.transaction(async (tx) => {
      const [delivery] = await tx<DeliveryRow[]>`
        update deliveries d set
          state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = ${clock()}
        from webhooks w
        where ${isDelivery(tx, which)} and d.state <> 'sending'
        returning ${deliveryColumns(tx)}`;
      if (delivery) {
        const { event, webhookId } = delivery;
        const { tests, scheduler } = delivering;
        afterCommit(tx, () => (event === "test" ? tests.wake() : scheduler.wake([webhookId])));
        return delivery;
      }
      const [sending] = await tx`select from deliveries d, webhooks w where ${isDelivery(tx, which)}`;
      throw sending
        ? new ApiError("delivery_under_way", { detail: "Ask again once the attempt that is under way is over." })
        : new ApiError("delivery_not_found");
    });
    return json(202, delivery);
  },
});

export const testWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/test",
  operationId: "testWebhook",
  summary: "Send a test message",
  description:
    "Sends a message of the event test to the webhook's endpoint, once, also when the webhook is paused or disabled. Get the delivery to see what was answered.",
  request: { params: webhookParams },
  responses: {
    202: {
      description: "The delivery of the message, which is on its way",
      schema: Delivery,
      example: {
        ...deliveryExample,
        event: "test",
        state: "pending",
        nextAttemptAt: deliveryExample.createdAt,
        settledAt: null,
      },
    },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, context }) {
    const { id: webhookId, locationId } = await readableWebhook(services, params, principal);
    const { db, clock, delivering } = services;
    const { traceparent } = context;
    const [id, messageId, event, now] = [randomUUID(), randomUUID(), "test" as const, clock()];
    const data = { locationId, webhookId, message: "It works." };
    const body = messageBody({ messageId, event, time: now.toISOString(), sequence: null, data, traceparent });
    const messages = [{ messageId, event, subject: messageId, body, traceparent }];
    const deliveries = [{ deliveryId: id, messageId, webhookId, isClaimed: false }];
    await insertMessages(db.sql, { messages, deliveries }, { now, lapsesAt: now });
    delivering.tests.wake();
    const delivery = { id, createdAt: now, webhookId, messageId, event };
    return json(202, { ...delivery, state: "pending", nextAttemptAt: now, settledAt: null });
  },
});
