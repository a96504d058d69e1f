import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { RecipientWithSecret, RotateSecret } from "@pragma/contracts/recipient";
import { UpsertWebhook, Webhook, WebhookDetails } from "@pragma/contracts/webhook";
import { type BodyReader, jsonBody } from "@pragma/runtime/define-route";
import { refuseFaults } from "@pragma/runtime/faults";
import { namedLocation, ownLocation } from "@pragma/runtime/locations";
import { afterCommit } from "@pragma/runtime/postgres";
import { json, taggedByContent } from "@pragma/runtime/reply";
import { replyWithNewest } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { recipientReply, useSecret } from "../change-secret.ts";
import { faultOfEndpoint } from "../endpoint/check-endpoint.ts";
import { removeDeleted } from "../periodic/remove-old.ts";
import { lockLocation, lockRecipient, outdateWebhooks } from "../queries/recipients.ts";
import { isWebhook, type WebhookRow, webhookColumns } from "../queries/webhooks.ts";
import { defineRoute, type Webhooks } from "../webhooks.ts";
import { limitReached, locationQuery, readable, readableWebhook, recipientParams, webhookParams } from "./params.ts";

const asJson = jsonBody(UpsertWebhook);

/** The body of a webhook whose endpoint is one that may be sent to. */
const webhookBody: BodyReader<UpsertWebhook, Webhooks> = {
  ...asJson,
  async read(bytes, services, sender) {
    const read = await asJson.read(bytes, services, sender);
    if ("faults" in read) return read;
    const fault = await faultOfEndpoint(read.value.endpointUrl, services.endpoints);
    return fault ? { faults: [{ in: "body", path: "endpointUrl", ...fault }], count: 1 } : read;
  },
};

export const upsertWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/",
  operationId: "upsertWebhook",
  summary: "Make or change a webhook",
  description:
    "Has events of a location posted to an endpoint, signed with the recipient's secret; or changes the webhook of this id in the same location, which stays active, paused or disabled as it is. The endpoint has to be an https address (http where the operator allows it) whose host has public addresses only, on port 80, 443, or 1024 and above, without user and password. It is answered for with a 2xx within 15 seconds; redirects are not followed. What fails is tried ten times over about three days. An endpoint that answers 410 is disabled at once, and one that has nothing but failures for five days, too.",
  request: { body: webhookBody },
  responses: {
    200: { description: "The webhook as it was changed", schema: Webhook },
    201: { description: "The webhook as it was made", schema: Webhook },
  },
  errors: ["webhook_conflict", "limit_reached", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, body.locationId, services.locations, context);
    const { webhook, isNew } = await upsertWebhook(services, { locationId, webhook: body });
    return json(isNew ? 201 : 200, webhook);
  },
});

/** Creates a webhook, or changes the one of this id; whether that is active, paused or disabled stays as it is. */
async function upsertWebhook(
  { db, clock, config }: Webhooks,
  { locationId, webhook }: { locationId: string; webhook: UpsertWebhook },
) {
  const { recipientId, endpointUrl, events } = webhook;
  const id = webhook.id?.toLowerCase() ?? randomUUID();
  return db.transaction(async (tx) => {
    await lockLocation(tx, db, locationId);
    // It stays until the transaction ends.
    const [recipient] = await tx`
      select from recipients where id = ${recipientId} and location_id = ${locationId} for key share`;
    if (!recipient) {
      const message = "must be the id of a recipient of the location";
      refuseFaults([{ in: "body", path: "recipientId", code: "unknown_recipient", message }]);
    }
    const now = clock();
    const content = { recipientId, endpointUrl, events: [...events], updatedAt: now };
    const unchanging = { id, locationId, state: "active", revision: 1, createdAt: now };
    const [inserted] = await tx<WebhookRow[]>`
      insert into webhooks ${tx({ ...content, ...unchanging })} on conflict (id) do nothing
      returning ${webhookColumns(tx)}`;
    if (inserted) {
      const max = config.WEBHOOKS_PER_LOCATION;
      const isListed = tx`location_id = ${locationId} and state <> 'deleted'`;
      const { count } = await tx`select from webhooks where ${isListed} limit ${max + 1}`;
      if (count > max) throw limitReached("webhooks", max);
      return { webhook: inserted, isNew: true };
    }
    // Of another endpoint it is not known whether it fails.
    const [updated] = await tx<WebhookRow[]>`
      update webhooks set
        ${tx(content)}, revision = revision + 1,
        failing_since = case when endpoint_url = ${endpointUrl} then failing_since end,
        last_error = case when endpoint_url = ${endpointUrl} then last_error end,
        warned_at = case when endpoint_url = ${endpointUrl} then warned_at end
      where ${isWebhook(tx, { id, locationId })}
      returning ${webhookColumns(tx)}`;
    if (updated) return { webhook: updated, isNew: false };
    // The id is of another location's webhook, or of one that is being removed.
    throw new ApiError("webhook_conflict", { detail: "Choose another id, or leave it out to be given one." });
  });
}

export const listWebhooksRoute = defineRoute({
  method: "get",
  path: "/v1/webhooks/",
  operationId: "listWebhooks",
  summary: "List webhooks",
  description: "The webhooks of the location, newest first.",
  request: { query: z.object({ ...locationQuery, ...pageQuery }) },
  responses: { 200: { description: "A page of webhooks", schema: pageOf(Webhook) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db }, url, origin }) {
    const { sql } = db;
    const locationId = ownLocation(principal, query.locationId);
    const where = sql`location_id = ${locationId} and state <> 'deleted'`;
    return replyWithNewest<WebhookRow>({ query, url, origin }, sql, {
      columns: webhookColumns(sql),
      table: sql`webhooks`,
      where,
    });
  },
});

/** No more pending deliveries than this are counted. */
const maxCounted = 10_000;

export const getWebhookRoute = defineRoute({
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
    const webhook = await readableWebhook(services, params, principal);
    const { db, clock } = services;
    const [statistics] = await db.sql`
      select
        (
          select count(*) from (
            select from deliveries where webhook_id = ${webhook.id} and state = 'pending' limit ${maxCounted}
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
    return taggedByContent(JSON.stringify({ ...webhook, statistics }), { ifNoneMatch: header("if-none-match") });
  },
});

export const pauseWebhookRoute = defineRoute({
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
        where ${isWebhook(tx, readable(params, principal))}
        returning ${webhookColumns(tx)}`,
    );
    if (!webhook) throw new ApiError("webhook_not_found");
    return json(200, webhook);
  },
});

export const resumeWebhookRoute = defineRoute({
  method: "post",
  path: "/v1/webhooks/{id}/resume",
  operationId: "resumeWebhook",
  summary: "Resume a webhook",
  description:
    "Sends to the endpoint of a webhook that was paused or disabled again, beginning with what was due in the meantime. Deliveries that had failed for good are made again with recover.",
  request: { params: webhookParams },
  responses: { 200: { description: "The webhook", schema: Webhook } },
  errors: ["webhook_not_found"],
  async handle({ params, principal, services: { db, clock, delivering } }) {
    const webhook = await db.transaction(async (tx) => {
      const [webhook] = await tx<WebhookRow[]>`
        update webhooks set
          state = 'active', disabled_reason = null, failing_since = null, last_error = null, warned_at = null,
          revision = revision + 1, updated_at = ${clock()}
        where ${isWebhook(tx, readable(params, principal))}
        returning ${webhookColumns(tx)}`;
      if (!webhook) throw new ApiError("webhook_not_found");
      afterCommit(tx, () => delivering.wakeEveryInstance([webhook.id]));
      return webhook;
    });
    return json(200, webhook);
  },
});

export const rotateSecretRoute = defineRoute({
  method: "post",
  path: "/v1/recipients/{id}/rotate",
  operationId: "rotateRecipientSecret",
  summary: "Rotate a recipient's secret",
  description:
    "Gives the recipient another secret: the one in the body, or one that is made and shown in this reply, and never again. For 24 hours messages are signed with both: webhook-signature carries a signature for each, and x-popina-hmac-signature stays under the secret of before. Say isLeaked to end the secrets of before at once.",
  request: { params: recipientParams, body: jsonBody(RotateSecret) },
  responses: { 200: { description: "The recipient", schema: RecipientWithSecret } },
  errors: ["recipient_not_found", "too_many_secrets"],
  async handle({ params, body, principal, services }) {
    const which = readable(params, principal);
    const now = services.clock();
    const reply = await services.db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, which))) throw new ApiError("recipient_not_found");
      const createdSecret = await useSecret(services, tx, { ...body, recipientId: which.id, now });
      await outdateWebhooks(tx, which.id);
      return recipientReply(tx, { id: which.id, createdSecret, now });
    });
    return json(200, reply, { "cache-control": "no-store" });
  },
});

/** Deliveries that are removed at once; more than these are left to the next turn of the periodic task. */
const maxAtOnce = 5_000;

export const deleteWebhookRoute = defineRoute({
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
    const which = readable(params, principal);
    // Out of sight; what is left of it is removed in portions.
    const marked = await db.transaction(
      (tx) => tx`
        update webhooks set state = 'deleted', disabled_reason = null, revision = revision + 1, updated_at = ${clock()}
        where ${isWebhook(tx, which)}`,
    );
    if (marked.count === 0) throw new ApiError("webhook_not_found");
    await removeDeleted(db.sql, { max: maxAtOnce });
    return { status: 204, body: null, headers: {} };
  },
});
