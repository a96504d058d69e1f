import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import { UpsertWebhook, Webhook, WebhookDetails } from "@pragma/contracts/webhook";
import { runAfterCommit } from "@pragma/runtime/database/postgres";
import { jsonBodyParser, type RequestBodyParser } from "@pragma/runtime/http/define-route";
import { newestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { throwIfInvalid } from "@pragma/runtime/http/request-issues";
import { conditionalJsonResponseByContent, jsonResponse } from "@pragma/runtime/http/route-response";
import { resolveLocationId, resolveLocationRef } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineWebhooksRoute, type WebhooksContext } from "../context.ts";
import { checkWebhookEndpoint } from "../endpoints/check-endpoint.ts";
import { lockLocationWebhooks } from "../queries/recipients.ts";
import { removeDeletedWebhooks } from "../queries/remove-webhooks.ts";
import { type WebhookRow, webhookColumns, webhookCondition } from "../queries/webhooks.ts";
import {
  createLocationLimitError,
  locationIdQuery,
  requireReadableWebhook,
  toLocationScopedId,
  webhookParams,
} from "./params.ts";

const upsertWebhookJson = jsonBodyParser(UpsertWebhook);

/** The body of a webhook whose endpoint is one that may be sent to. */
const upsertWebhookBody: RequestBodyParser<UpsertWebhook, WebhooksContext> = {
  ...upsertWebhookJson,
  async parse(bytes, services, sender) {
    const read = await upsertWebhookJson.parse(bytes, services, sender);
    if ("issues" in read) return read;
    const issue = await checkWebhookEndpoint(read.value.endpointUrl, services.endpointRules);
    return issue ? { issues: [{ in: "body", path: "endpointUrl", ...issue }], count: 1 } : read;
  },
};

export const upsertWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/",
  operationId: "upsertWebhook",
  summary: "Make or change a webhook",
  description:
    "Has events of a location posted to an endpoint, signed with the recipient's secret; or changes the webhook of this id in the same location, which stays active, paused or disabled as it is. The endpoint has to be an https address (http where the operator allows it) whose host has public addresses only, on port 80, 443, or 1024 and above, without user and password. It is answered for with a 2xx within 15 seconds; redirects are not followed. What fails is tried ten times over about three days. An endpoint that answers 410 is disabled at once, and one that has nothing but failures for five days, too.",
  request: { body: upsertWebhookBody },
  responses: {
    200: { description: "The webhook as it was changed", schema: Webhook },
    201: { description: "The webhook as it was made", schema: Webhook },
  },
  errors: ["webhook_conflict", "limit_reached", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await resolveLocationRef(principal, body.locationId, services.locations, context);
    const { webhook, isNew } = await upsertWebhook(services, { locationId, webhook: body });
    return jsonResponse(isNew ? 201 : 200, webhook);
  },
});

/** Creates a webhook, or changes the one of this id; whether that is active, paused or disabled stays as it is. */
async function upsertWebhook(
  { db, clock, config }: WebhooksContext,
  { locationId, webhook }: { locationId: string; webhook: UpsertWebhook },
) {
  const { recipientId, endpointUrl, events } = webhook;
  const id = webhook.id?.toLowerCase() ?? randomUUID();
  return db.transaction(async (tx) => {
    await lockLocationWebhooks(tx, db, locationId);
    // It stays until the transaction ends.
    const [recipient] = await tx`
      select from recipients where id = ${recipientId} and location_id = ${locationId} for key share`;
    if (!recipient) {
      const message = "must be the id of a recipient of the location";
      throwIfInvalid([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const now = clock();
    const content = { recipientId, endpointUrl, events: [...events], updatedAt: now };
    const immutableFields = { id, locationId, state: "active", revision: 1, createdAt: now };
    const [inserted] = await tx<WebhookRow[]>`
      insert into webhooks ${tx({ ...content, ...immutableFields })} on conflict (id) do nothing
      returning ${webhookColumns(tx)}`;
    if (inserted) {
      const max = config.WEBHOOKS_PER_LOCATION;
      const isListed = tx`location_id = ${locationId} and state <> 'deleted'`;
      const { count } = await tx`select from webhooks where ${isListed} limit ${max + 1}`;
      if (count > max) throw createLocationLimitError("webhooks", max);
      return { webhook: inserted, isNew: true };
    }
    // Of another endpoint it is not known whether it fails.
    const [updated] = await tx<WebhookRow[]>`
      update webhooks set
        ${tx(content)}, revision = revision + 1,
        failing_since = case when endpoint_url = ${endpointUrl} then failing_since end,
        last_error = case when endpoint_url = ${endpointUrl} then last_error end,
        warned_at = case when endpoint_url = ${endpointUrl} then warned_at end
      where ${webhookCondition(tx, { id, locationId })}
      returning ${webhookColumns(tx)}`;
    if (updated) return { webhook: updated, isNew: false };
    // The id is of another location's webhook, or of one that is being removed.
    throw new ApiError("webhook_conflict", { detail: "Choose another id, or leave it out to be given one." });
  });
}

export const listWebhooksRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/",
  operationId: "listWebhooks",
  summary: "List webhooks",
  description: "The webhooks of the location, newest first.",
  request: { query: z.object({ ...locationIdQuery, ...paginationQueryShape }) },
  responses: { 200: { description: "A page of webhooks", schema: paginatedSchema(Webhook) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = resolveLocationId(principal, query.locationId);
    const where = sql`location_id = ${locationId} and state <> 'deleted'`;
    return newestRowsPageResponse<WebhookRow>({ query, url, origin }, sql, {
      columns: webhookColumns(sql),
      table: sql`webhooks`,
      where,
    });
  },
});

/** No more pending deliveries than this are counted. */
const maxCountedPending = 10_000;

export const getWebhookRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/webhooks/{id}",
  operationId: "getWebhook",
  summary: "Get a webhook",
  description: "A webhook, with how its deliveries go.",
  request: { params: webhookParams },
  responses: {
    200: { description: "The webhook", schema: WebhookDetails },
    304: { description: "The client has it already" },
  },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services, header }) {
    const webhook = await requireReadableWebhook(services, params, principal);
    const { db, clock } = services;
    const [statistics] = await db.sql`
      select
        (
          select count(*) from (
            select from deliveries where webhook_id = ${webhook.id} and state = 'pending' limit ${maxCountedPending}
          ) counted
        ) as pending,
        (
          select json_build_object(
            'succeeded', coalesce(sum(succeeded), 0), 'failed', coalesce(sum(failed), 0),
            'averageMilliseconds', round(sum(milliseconds) / nullif(sum(succeeded + failed), 0))
          ) from webhook_hours
          where webhook_id = ${webhook.id} and hour > ${clock()}::timestamptz - interval '24 hours'
        ) as last_day,
        max(last_succeeded_at) as last_succeeded_at, max(last_failed_at) as last_failed_at
      from webhook_hours where webhook_id = ${webhook.id}`;
    return conditionalJsonResponseByContent(JSON.stringify({ ...webhook, statistics }), {
      ifNoneMatch: header("if-none-match"),
    });
  },
});

export const pauseWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/pause",
  operationId: "pauseWebhook",
  summary: "Pause a webhook",
  description:
    "Sends nothing more to its endpoint, but for what is under way. What comes to pass in the meantime is kept, and sent once the webhook is resumed.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock } }) {
    const [webhook] = await db.transaction(
      (tx) => tx<WebhookRow[]>`
        update webhooks set state = 'paused', disabled_reason = null, revision = revision + 1, updated_at = ${clock()}
        where ${webhookCondition(tx, toLocationScopedId(params, principal))}
        returning ${webhookColumns(tx)}`,
    );
    if (!webhook) throw new ApiError("webhook_not_found");
    return jsonResponse(200, webhook);
  },
});

export const resumeWebhookRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/webhooks/{id}/resume",
  operationId: "resumeWebhook",
  summary: "Resume a webhook",
  description:
    "Sends to the endpoint of a webhook that was paused or disabled again, beginning with what was due in the meantime. Deliveries that had failed for good are made again with recover.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock, deliveryWorker } }) {
    const webhook = await db.transaction(async (tx) => {
      const [webhook] = await tx<WebhookRow[]>`
        update webhooks set
          state = 'active', disabled_reason = null, failing_since = null, last_error = null, warned_at = null,
          revision = revision + 1, updated_at = ${clock()}
        where ${webhookCondition(tx, toLocationScopedId(params, principal))}
        returning ${webhookColumns(tx)}`;
      if (!webhook) throw new ApiError("webhook_not_found");
      runAfterCommit(tx, () => deliveryWorker.pollAllInstances([webhook.id]));
      return webhook;
    });
    return jsonResponse(200, webhook);
  },
});

/** Deliveries that are removed at once; more than these are left to the next turn of the periodic task. */
const maxDeletedInRequest = 5_000;

export const deleteWebhookRoute = defineWebhooksRoute({
  method: "delete",
  path: "/v1/webhooks/{id}",
  operationId: "deleteWebhook",
  summary: "Delete a webhook",
  description:
    "Deletes a webhook with the log of its deliveries. Nothing is sent any more, not even what was due. Pause it instead to have that sent later.",
  request: { params: webhookParams },
  responses: { 204: { description: "The webhook is deleted" } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock } }) {
    const target = toLocationScopedId(params, principal);
    // Out of sight; what is left of it is removed in portions.
    const marked = await db.transaction(
      (tx) => tx`
        update webhooks set state = 'deleted', disabled_reason = null, revision = revision + 1, updated_at = ${clock()}
        where ${webhookCondition(tx, target)}`,
    );
    if (marked.count === 0) throw new ApiError("webhook_not_found");
    await removeDeletedWebhooks(db.sql, { max: maxDeletedInRequest });
    return { status: 204, body: null, headers: {} };
  },
});
