import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { LocationRef } from "@pragma/contracts/principal";
import { sandboxServiceConsumerName } from "@pragma/contracts/sandbox";
import { UpsertWebhookRequest, Webhook, WebhookWithDeliveryStatistics } from "@pragma/contracts/webhook";
import { lockInTransaction, runAfterCommit } from "@pragma/runtime/database/postgres";
import {
  createValidatingJsonBodyParser,
  type RequestBodyParser,
  type RouteHandlerInput,
} from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { createTaggedJsonResponse, jsonResponse } from "@pragma/runtime/http/route-response";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { resolveAuthorizedLocationId, resolveRequestedLocation } from "@pragma/runtime/service-calls/location-lookup";
import { defineWebhooksRoute, type WebhooksServiceContext } from "../context.ts";
import { findWebhookEndpointUrlIssue } from "../endpoints/check-endpoint.ts";
import { removeRowsOfDeletedWebhooks } from "../queries/remove-webhooks.ts";
import { type WebhookRow, webhookByIdCondition, webhookColumns } from "../queries/webhooks.ts";
import {
  createPerLocationLimitError,
  getPathIdWithReadableLocation,
  listOfLocationQuery,
  requireReadableWebhook,
  webhookPathParams,
} from "./params.ts";

const upsertWebhookJson = createValidatingJsonBodyParser(UpsertWebhookRequest);

const upsertWebhookBody: RequestBodyParser<UpsertWebhookRequest, WebhooksServiceContext> = {
  ...upsertWebhookJson,
  async parse(bytes, services, sender) {
    const parsed = await upsertWebhookJson.parse(bytes, services, sender);
    if ("issues" in parsed) return parsed;
    const issue = await findWebhookEndpointUrlIssue(parsed.value.endpointUrl, services.endpointRules);
    return issue ? { issues: [{ in: "body", path: "endpointUrl", ...issue }], count: 1 } : parsed;
  },
};

export const upsertWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/",
  operationId: "upsertWebhook",
  summary: "Create or update a webhook",
  description:
    "Creates a webhook, which sends messages about a location's events to an endpoint. The messages are signed with the recipient's secret. If `id` identifies an existing webhook of the location, the API updates that webhook instead and keeps its state (active, paused or disabled). The endpoint must be an HTTPS URL without a username, password or fragment. Its port must be 80, 443, or 1024 or higher, and all IP addresses of its host must be public. The operator can allow HTTP URLs and hosts with private IP addresses. The endpoint must respond with a 2xx status within 15 seconds. Redirects are not followed. A delivery is attempted up to ten times over about three days. A webhook is disabled when its endpoint responds with status 410, or when all attempts have failed for five days.",
  request: { body: upsertWebhookBody },
  responses: {
    200: { description: "The webhook after the update", schema: Webhook },
    201: { description: "The new webhook, which is active", schema: Webhook },
  },
  errors: ["webhook_conflict", "limit_reached", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context, audit }) {
    const location = await resolveRequestedLocation(principal, body.locationId, services.locations, context);
    // The service sandboxes creates the webhook of the inbox.
    const hasMessageQuota = location.isSandbox === true && principal.consumer !== sandboxServiceConsumerName;
    const { webhook, isNew } = await upsertWebhook(services, { location, input: body, audit, hasMessageQuota });
    return jsonResponse(isNew ? 201 : 200, webhook);
  },
});

async function upsertWebhook(
  { db, clock, config }: WebhooksServiceContext,
  {
    location: { id: locationId, isSandbox },
    input,
    audit,
    hasMessageQuota,
  }: {
    location: Pick<LocationRef, "id" | "isSandbox">;
    input: UpsertWebhookRequest;
    audit: AuditSource;
    hasMessageQuota: boolean;
  },
) {
  const { recipientId, endpointUrl, events } = input;
  const id = input.id?.toLowerCase() ?? randomUUID();
  return db.transaction(async (tx) => {
    // So that concurrent requests cannot exceed the limit.
    await lockInTransaction(tx, db, `location ${locationId}`);
    // The lock prevents the deletion of the recipient until the transaction ends.
    const [recipient] = await tx`
      select from recipients where id = ${recipientId} and location_id = ${locationId} for key share`;
    if (!recipient) {
      const message = "Must be the ID of a recipient of the location";
      throwIfInvalid([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const recordChange = (action: "webhook.created" | "webhook.changed") =>
      publishAuditEvent(tx, audit, {
        ...{ action, locationId, target: { type: "webhook", id } },
        // Only the host, because the rest of the URL can contain a secret.
        details: { recipientId, endpointHost: new URL(endpointUrl).host, events: [...events] },
      });
    const now = clock();
    const content = { recipientId, endpointUrl, events: [...events], updatedAt: now };
    const initialFields = { id, locationId, state: "active", revision: 1, createdAt: now, hasMessageQuota };
    const [inserted] = await tx<WebhookRow[]>`
      insert into webhooks ${tx({ ...content, ...initialFields })} on conflict (id) do nothing
      returning ${webhookColumns(tx)}`;
    if (inserted) {
      const max = isSandbox ? config.MAX_WEBHOOKS_PER_SANDBOX : config.MAX_WEBHOOKS_PER_LOCATION;
      const isListed = tx`location_id = ${locationId} and state <> 'deleted'`;
      const { count } = await tx`select from webhooks where ${isListed} limit ${max + 1}`;
      if (count > max) throw createPerLocationLimitError("webhooks", max);
      await recordChange("webhook.created");
      return { webhook: inserted, isNew: true };
    }
    // A new endpoint URL clears the recorded failures, because they concern only the previous endpoint. The webhook of the
    // inbox stays without a quota until it gets another endpoint.
    const [updated] = await tx<WebhookRow[]>`
      update webhooks set
        ${tx(content)}, revision = revision + 1,
        failing_since = case when endpoint_url = ${endpointUrl} then failing_since end,
        last_error = case when endpoint_url = ${endpointUrl} then last_error end,
        warned_at = case when endpoint_url = ${endpointUrl} then warned_at end,
        has_message_quota = case when endpoint_url = ${endpointUrl} then has_message_quota else ${hasMessageQuota} end
      where ${webhookByIdCondition(tx, { id, locationId })}
      returning ${webhookColumns(tx)}`;
    if (updated) {
      await recordChange("webhook.changed");
      return { webhook: updated, isNew: false };
    }
    // The id belongs to a webhook of another location, or to a deleted webhook whose rows are still being removed.
    throw new ApiError("webhook_conflict", { detail: "Use another ID, or omit the ID so that the API generates one." });
  });
}

export const listWebhooksRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/",
  operationId: "listWebhooks",
  summary: "List webhooks",
  description: "Returns the webhooks of a location, newest first.",
  request: { query: listOfLocationQuery },
  responses: { 200: { description: "A page of webhooks, newest first", schema: paginatedSchema(Webhook) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const where = sql`location_id = ${locationId} and state <> 'deleted'`;
    const rows = { columns: webhookColumns(sql), table: sql`webhooks`, where };
    return queryNewestRowsPageResponse<WebhookRow>({ query, locationId, principal, url, origin }, sql, rows);
  },
});

/** Maximum number of pending deliveries that are counted, to bound the cost of the query. */
const maxCountedPending = 10_000;

export const getWebhookRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/{id}",
  operationId: "getWebhook",
  summary: "Get a webhook",
  description: "Returns a webhook with statistics about its deliveries.",
  request: { params: webhookPathParams },
  responses: {
    200: { description: "The webhook, with statistics about its deliveries", schema: WebhookWithDeliveryStatistics },
    304: { description: "The client's cached response is current" },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await requireReadableWebhook(services, params, principal);
    const { db, clock } = services;
    const ofLocation = db.sql`location_id = ${webhook.locationId}`;
    const [statistics] = await db.sql`
      select
        (
          select count(*) from (
            select from webhook_deliveries
            where ${ofLocation} and webhook_id = ${webhook.id} and state = 'pending' limit ${maxCountedPending}
          ) counted
        ) as pending,
        (
          select json_build_object(
            'succeeded', coalesce(sum(succeeded), 0), 'failed', coalesce(sum(failed), 0),
            'averageMilliseconds', round(sum(milliseconds) / nullif(sum(succeeded + failed), 0))
          ) from webhook_hourly_stats
          where ${ofLocation} and webhook_id = ${webhook.id} and hour > ${clock()}::timestamptz - interval '24 hours'
        ) as last_day,
        max(last_succeeded_at) as last_succeeded_at, max(last_failed_at) as last_failed_at
      from webhook_hourly_stats where ${ofLocation} and webhook_id = ${webhook.id}`;
    const text = JSON.stringify({ ...webhook, statistics });
    return createTaggedJsonResponse(text, { ifNoneMatch: header("if-none-match") });
  },
});

/** @throws `ApiError` webhook_not_found; location_forbidden when the key belongs to no location. */
async function changeWebhookState(
  input: RouteHandlerInput<typeof webhookPathParams, undefined, undefined, WebhooksServiceContext>,
  action: "webhook.paused" | "webhook.resumed" | "webhook.deleted",
  changes: { state: string; failingSince?: null; lastError?: null; warnedAt?: null },
  onCommitted: (id: string) => void = () => {},
): Promise<WebhookRow> {
  const { params, principal, services, audit } = input;
  return services.db.transaction(async (tx) => {
    const [webhook] = await tx<WebhookRow[]>`
      update webhooks set ${tx({ ...changes, disabledReason: null, updatedAt: services.clock() })}, revision = revision + 1
      where ${webhookByIdCondition(tx, getPathIdWithReadableLocation(params, principal))}
      returning ${webhookColumns(tx)}`;
    if (!webhook) throw new ApiError("webhook_not_found");
    const { id, locationId } = webhook;
    await publishAuditEvent(tx, audit, { action, locationId, target: { type: "webhook", id } });
    runAfterCommit(tx, () => onCommitted(id));
    return webhook;
  });
}

export const pauseWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/pause",
  operationId: "pauseWebhook",
  summary: "Pause a webhook",
  description:
    "Stops sending messages to the webhook's endpoint. Attempts in progress continue. Messages for new events are stored for up to 30 days, and are sent when you resume the webhook.",
  request: { params: webhookPathParams },
  responses: { 200: { description: "The webhook, whose state is now `paused`", schema: Webhook } },
  errors: ["webhook_not_found"],
  handle: async (input) => jsonResponse(200, await changeWebhookState(input, "webhook.paused", { state: "paused" })),
});

export const resumeWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/resume",
  operationId: "resumeWebhook",
  summary: "Resume a webhook",
  description:
    "Activates a paused or disabled webhook and sends the messages that became due in the meantime. To retry failed deliveries, start a recovery.",
  request: { params: webhookPathParams },
  responses: { 200: { description: "The webhook, whose state is now `active`", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle(input) {
    const changes = { state: "active", failingSince: null, lastError: null, warnedAt: null };
    const onCommitted = (id: string) => input.services.deliveryWorker.pollAllInstances([id]);
    return jsonResponse(200, await changeWebhookState(input, "webhook.resumed", changes, onCommitted));
  },
});

/** Maximum number of deliveries that a request removes, to limit its duration. The periodic task removes the rest. */
const maxDeletedInRequest = 5_000;

export const deleteWebhookRoute = defineWebhooksRoute({
  method: "delete",
  path: "/v1/webhooks/{id}",
  operationId: "deleteWebhook",
  summary: "Delete a webhook",
  description:
    "Deletes a webhook and its delivery log. Pending messages are not sent. To send them later, pause the webhook instead.",
  request: { params: webhookPathParams },
  responses: { 204: { description: "The webhook and its delivery log were deleted" } },
  errors: ["webhook_not_found"],
  async handle(input) {
    // The webhook is hidden first, so that clients never see it while its rows are removed in batches.
    await changeWebhookState(input, "webhook.deleted", { state: "deleted" });
    await removeRowsOfDeletedWebhooks(input.services.db.sql, { max: maxDeletedInRequest });
    return { status: 204, body: null, headers: {} };
  },
});
