import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { webhookDeliveryExample } from "@pragma/contracts/examples/webhook";
import {
  checkSinceIsNotAfterUntil,
  type DayOrInstant,
  dayOrInstantQueryParameter,
  paginatedSchema,
  paginationQueryShape,
} from "@pragma/contracts/pagination";
import { webhookEventNames } from "@pragma/contracts/webhook";
import {
  ReplayDeliveriesRequest,
  ReplayedDeliveries,
  WebhookDelivery,
  type WebhookDeliveryAttempt,
  WebhookDeliveryDetails,
  webhookDeliveryStates,
} from "@pragma/contracts/webhook-delivery";
import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import {
  createdAtCursorSchema,
  createPageResponse,
  queryNewestRowsPageResponse,
} from "@pragma/runtime/http/page-response";
import { decodePageToken, encodePageToken } from "@pragma/runtime/http/page-token";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import { joinJsonObjectTexts, wrapJsonTextInObject } from "@pragma/runtime/json/join-json";
import { publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { locationIdQueryParameter, resolveAuthorizedLocationId } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { getWebhookClaimLeaseMs } from "../config.ts";
import { defineWebhooksRoute } from "../context.ts";
import { serializeWebhookMessage } from "../messages/message-enqueuer.ts";
import { formatSignatureHeaders } from "../messages/sign-message.ts";
import {
  getMessageDay,
  type WebhookDeliveryRow,
  webhookDeliveryByIdCondition,
  webhookDeliveryColumns,
} from "../queries/deliveries.ts";
import { listDeliveriesOfLocation, requeueDeliveries } from "../queries/deliveries-of-location.ts";
import { insertMessages } from "../queries/insert-messages.ts";
import type { WithDateFields } from "../queries/row-types.ts";
import { resolveDeliveryFilter, toDeliveryCondition } from "./delivery-filter.ts";
import {
  getPathIdWithReadableLocation,
  requireReadableWebhook,
  webhookDeliveryPathParams,
  webhookPathParams,
} from "./params.ts";

const deliveryFilterShape = {
  event: z.enum(webhookEventNames).optional().meta({ description: "Returns only deliveries of this event type." }),
  state: z.enum(webhookDeliveryStates).optional().meta({ description: "Returns only deliveries in this state." }),
  since: dayOrInstantQueryParameter(
    "Returns only deliveries that were created on or after this day in the location's time zone, or at or after this date-time.",
  ),
  until: dayOrInstantQueryParameter(
    "Returns only deliveries that were created on or before this day in the location's time zone, or at or before this date-time.",
  ),
  ...paginationQueryShape,
};

const listDeliveriesQuery = z.object(deliveryFilterShape).check(checkSinceIsNotAfterUntil);

const listAllDeliveriesQuery = z
  .object({
    webhookId: z.guid().optional().meta({ description: "Returns only deliveries to the webhook with this ID." }),
    ...deliveryFilterShape,
    locationId: locationIdQueryParameter(),
  })
  .check(checkSinceIsNotAfterUntil);

export const listAllDeliveriesRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/deliveries/",
  operationId: "listAllDeliveries",
  summary: "List the deliveries of all webhooks",
  description:
    "Returns the deliveries to all webhooks of the location, newest first. Deliveries to deleted webhooks are not included. Deliveries are stored for 30 days.",
  request: { query: listAllDeliveriesQuery },
  responses: { 200: { description: "A page of deliveries, newest first", schema: paginatedSchema(WebhookDelivery) } },
  errors: ["location_forbidden", "location_not_found", "invalid_page_token"],
  async handle({ query, principal, services, context, url, origin }) {
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const filter = await resolveDeliveryFilter(query, { locationId, principal, services, context });
    const { sql } = services.db;
    return createPageResponse({ query, locationId, principal, url, origin }, createdAtCursorSchema, (range) =>
      listDeliveriesOfLocation(
        sql,
        { locationId, webhookId: query.webhookId, matches: toDeliveryCondition(sql, filter) },
        range,
      ),
    );
  },
});

export const listWebhookDeliveriesRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/{id}/deliveries",
  operationId: "listDeliveries",
  summary: "List a webhook's deliveries",
  description: "Returns a webhook's deliveries, newest first. Deliveries are stored for 30 days.",
  request: { params: webhookPathParams, query: listDeliveriesQuery },
  responses: { 200: { description: "A page of deliveries, newest first", schema: paginatedSchema(WebhookDelivery) } },
  errors: ["webhook_not_found", "invalid_page_token"],
  async handle({ params, query, principal, services, context, url, origin }) {
    const { id, locationId } = await requireReadableWebhook(services, params, principal);
    const filter = await resolveDeliveryFilter(query, { locationId, principal, services, context });
    const { sql } = services.db;
    const where = sql`location_id = ${locationId} and webhook_id = ${id} and ${toDeliveryCondition(sql, filter)}`;
    const request = { query, locationId, principal, url, origin };
    const rows = { columns: webhookDeliveryColumns(sql), table: sql`webhook_deliveries d`, where };
    return queryNewestRowsPageResponse<WebhookDeliveryRow>(request, sql, rows);
  },
});

export const getWebhookDeliveryRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/deliveries/{id}",
  operationId: "getDelivery",
  summary: "Get a delivery",
  description: "Returns a delivery with its attempts, the endpoint's responses, and the body of the message.",
  request: { params: webhookDeliveryPathParams },
  responses: {
    200: { description: "The delivery, with its attempts and the body of the message", schema: WebhookDeliveryDetails },
    304: { description: "The client's cached response is current" },
  },
  errors: ["delivery_not_found"],
  async handle({ params, principal, services: { db, config }, header, readResponseBody }) {
    const { sql } = db;
    const [row] = await sql<(WebhookDeliveryRow & { locationId: string })[]>`
      select w.location_id, ${webhookDeliveryColumns(sql)} from webhook_deliveries d, webhooks w
      where ${webhookDeliveryByIdCondition(sql, getPathIdWithReadableLocation(params, principal))}`;
    if (!row) throw new ApiError("delivery_not_found");
    const { locationId, ...delivery } = row;
    const ofLocation = sql`location_id = ${locationId}`;
    const ofDay = sql`created_on = ${getMessageDay(delivery.createdAt)}::date`;
    const [message] = await sql<{ body: string }[]>`
      select body from webhook_messages where ${ofLocation} and id = ${delivery.messageId} and ${ofDay}`;
    // The retention has removed both in the meantime.
    if (!message) throw new ApiError("delivery_not_found");
    // Selects the latest 1,000 attempts. An attempt in progress is included, with the time of its claim as its start.
    const { attempts } = await readResponseBody(async (maxBytes) => {
      const rows = await sql<(AttemptRow & { bytes: number })[]>`
        select generation, number, started_at, milliseconds, signature, status, error,
          case when bytes <= ${maxBytes}::int then response end as response, next_attempt_at, bytes
        from (
          select *, sum(octet_length(response)) over () as bytes
          from (
            select
              generation, number, started_at, milliseconds, signature, status, error, response, next_attempt_at
            from attempts where ${ofLocation} and delivery_id = ${delivery.id} and ${ofDay}
            union all
            select
              generation, attempt, due_at - make_interval(secs => ${getWebhookClaimLeaseMs(config) / 1_000}), null, null, null, null, null, null
            from webhook_deliveries where ${ofLocation} and id = ${delivery.id} and state = 'sending'
            order by generation desc, number desc limit 1000
          ) latest
        ) measured order by generation, number`;
      const bytes = rows[0]?.bytes ?? 0;
      return {
        attempts: rows.map(({ bytes: _, ...row }) => toAttempt(row, delivery.messageId)),
        ...(bytes > maxBytes && { omittedBytes: bytes }),
      };
    });
    // The payload is inserted as text, so that it is byte for byte the same as the sent body.
    const responseText = joinJsonObjectTexts(
      JSON.stringify({ ...delivery, attempts }),
      wrapJsonTextInObject("payload", message.body),
    );
    return createTaggedJsonResponse(responseText, { ifNoneMatch: header("if-none-match") });
  },
});

interface AttemptRow
  extends WithDateFields<Omit<WebhookDeliveryAttempt, "signatureHeaders">, "startedAt" | "nextAttemptAt"> {
  signature: string | null;
}

function toAttempt(
  { generation, number, startedAt, milliseconds, signature, ...result }: AttemptRow,
  messageId: string,
) {
  const signatureHeaders = signature === null ? null : formatSignatureHeaders(messageId, startedAt, signature);
  return { generation, number, startedAt, milliseconds, signatureHeaders, ...result };
}

export const replayWebhookDeliveryRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/{id}/replay",
  operationId: "replayDelivery",
  summary: "Replay a delivery",
  description:
    "Resends the message of a delivery, even if the delivery has already succeeded. If the webhook is paused or disabled, the message is sent after the webhook is resumed. If the new attempt fails, the message is retried on the same schedule as a new delivery. Test messages, however, are sent even if the webhook is paused or disabled, and are not retried. The message keeps its ID, so the receiver can recognize duplicates.",
  request: { params: webhookDeliveryPathParams },
  responses: {
    202: {
      description: "The delivery, whose state is now `pending`",
      schema: WebhookDelivery,
      example: { ...webhookDeliveryExample, state: "pending", nextAttemptAt: "2026-05-30T08:00:00.000Z" },
    },
  },
  errors: ["delivery_not_found", "delivery_under_way"],
  async handle({ params, principal, services: { db, clock, deliveryWorker }, audit }) {
    const target = getPathIdWithReadableLocation(params, principal);
    const delivery = await db.transaction(async (tx) => {
      const [replayed] = await tx<(WebhookDeliveryRow & { locationId: string })[]>`
        update webhook_deliveries d set
          state = 'pending', generation = d.generation + 1, attempt = 1, failures = 0, due_at = ${clock()}
        from webhooks w
        where ${webhookDeliveryByIdCondition(tx, target)} and d.state <> 'sending'
        returning ${webhookDeliveryColumns(tx)}, w.location_id`;
      if (replayed) {
        const { locationId, ...delivery } = replayed;
        const { id, event, webhookId } = delivery;
        await publishAuditEvent(tx, audit, {
          ...{ action: "delivery.replayed", locationId, target: { type: "delivery", id } },
          details: { webhookId, event },
        });
        const { testLoop, scheduler } = deliveryWorker;
        runAfterCommit(tx, () => (event === "test" ? testLoop.poll() : scheduler.poll([webhookId])));
        return delivery;
      }
      const [sending] =
        await tx`select from webhook_deliveries d, webhooks w where ${webhookDeliveryByIdCondition(tx, target)}`;
      throw sending
        ? new ApiError("delivery_under_way", { detail: "Retry after the current attempt has finished." })
        : new ApiError("delivery_not_found");
    });
    return jsonResponse(202, delivery, { location: `/v1/webhooks/deliveries/${delivery.id}` });
  },
});

export const replayDeliveriesRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/deliveries/replay",
  operationId: "replayDeliveries",
  summary: "Replay deliveries",
  description:
    "Resends the messages of the deliveries that match the filters, oldest first, and at most `limit` of them; in a [sandbox](/docs/sandboxes#limits) at most 20. By default, only failed deliveries match. Each of them is replayed as if you had [replayed it alone](/api/replay-delivery). Test messages are not replayed. If `nextPageToken` is not null, send the request again with it as `pageToken`.",
  request: { body: createValidatingJsonBodyParser(ReplayDeliveriesRequest) },
  responses: {
    202: { description: "The numbers of deliveries that are replayed, and that remain", schema: ReplayedDeliveries },
  },
  errors: ["location_forbidden", "location_not_found", "invalid_page_token"],
  async handle({ body, principal, services, context, audit }) {
    const { db, clock, deliveryWorker, config } = services;
    const locationId = resolveAuthorizedLocationId(principal, body.locationId);
    const { state, webhookId, event, since, until, pageToken } = body;
    const { location } = principal;
    const limit = location?.isSandbox ? Math.min(body.limit, config.MAX_REPLAYED_DELIVERIES_PER_SANDBOX) : body.limit;
    const after = pageToken === undefined ? null : decodePageToken(pageToken, createdAtCursorSchema);
    const filter = await resolveDeliveryFilter(body, { locationId, principal, services, context });
    const replayed = await db.transaction(async (tx) => {
      const selection = { locationId, webhookId, matches: toDeliveryCondition(tx, filter) };
      const options = { after, limit, now: clock() };
      const { webhookIds, next, ...counts } = await requeueDeliveries(tx, selection, options);
      await publishAuditEvent(tx, audit, {
        ...{ action: "deliveries.replayed", locationId, target: { type: "location", id: locationId } },
        details: {
          state,
          ...(webhookId && { webhookId }),
          ...(event && { event }),
          ...(since && { since: describeBound(since) }),
          ...(until && { until: describeBound(until) }),
          ...counts,
        },
      });
      runAfterCommit(tx, () => deliveryWorker.scheduler.poll(webhookIds));
      return { ...counts, nextPageToken: next && encodePageToken(next) };
    });
    return jsonResponse(202, replayed);
  },
});

const describeBound = (bound: DayOrInstant): string => ("day" in bound ? bound.day : bound.instant);

export const testWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/test",
  operationId: "testWebhook",
  summary: "Send a test message",
  description:
    "Sends a test message to the webhook's endpoint, even if the webhook is paused or disabled. Test messages are not retried. To see the endpoint's response, get the delivery.",
  request: { params: webhookPathParams },
  responses: {
    202: {
      description: "The pending delivery of the test message",
      schema: WebhookDelivery,
      example: {
        ...webhookDeliveryExample,
        event: "test",
        state: "pending",
        nextAttemptAt: webhookDeliveryExample.createdAt,
        settledAt: null,
      },
    },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, context }) {
    const { id: webhookId, locationId } = await requireReadableWebhook(services, params, principal);
    const { db, clock, deliveryWorker } = services;
    const { traceparent } = context;
    const [id, messageId, event, now] = [randomUUID(), randomUUID(), "test" as const, clock()];
    const data = { locationId, webhookId, message: "It works." };
    const message = { messageId, event, time: now.toISOString(), sequence: null, data, traceparent };
    const body = serializeWebhookMessage(message);
    const messages = [{ messageId, locationId, event, subject: messageId, body, traceparent }];
    const deliveries = [{ deliveryId: id, messageId, webhookId, isClaimed: false }];
    await insertMessages(db.sql, { messages, deliveries }, { now, leaseExpiresAt: now });
    deliveryWorker.testLoop.poll();
    const state = { state: "pending", nextAttemptAt: now, settledAt: null };
    const delivery = { id, createdAt: now, webhookId, messageId, event, ...state };
    return jsonResponse(202, delivery, { location: `/v1/webhooks/deliveries/${id}` });
  },
});
