import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema, paginationQueryShape } from "@pragma/contracts/pagination";
import {
  RotateRecipientSecret,
  UpsertWebhookRecipient,
  WebhookRecipient,
  WebhookRecipientWithSecret,
} from "@pragma/contracts/webhook-recipient";
import { jsonBodyParser } from "@pragma/runtime/http/define-route";
import { newestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { resolveLocationId, resolveLocationRef } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import { defineWebhooksRoute, type WebhooksContext } from "../context.ts";
import {
  incrementWebhookRevisions,
  lockLocationWebhooks,
  lockRecipient,
  type RecipientRow,
  readRecipientWithSecret,
  recipientColumns,
} from "../queries/recipients.ts";
import { setRecipientSecret } from "../set-recipient-secret.ts";
import { createLocationLimitError, locationIdQuery, recipientParams, toLocationScopedId } from "./params.ts";

export const upsertRecipientRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/recipients/",
  operationId: "upsertRecipient",
  summary: "Make or change a recipient",
  description:
    "Makes a recipient of webhooks, or changes the one of this id in the same location. A new one that is given no hmacSecret gets one that is made for it: it is shown in this reply, and never again. Another hmacSecret for a recipient that has one takes its place as a rotation does.",
  request: { body: jsonBodyParser(UpsertWebhookRecipient) },
  responses: {
    200: { description: "The recipient as it was changed", schema: WebhookRecipientWithSecret },
    201: { description: "The recipient as it was made", schema: WebhookRecipientWithSecret },
  },
  errors: ["recipient_conflict", "limit_reached", "too_many_secrets", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await resolveLocationRef(principal, body.locationId, services.locations, context);
    const { isNew, reply } = await upsertRecipient(services, { locationId, recipient: body });
    return jsonResponse(isNew ? 201 : 200, reply, { "cache-control": "no-store" });
  },
});

/** Creates a recipient, or changes the one of this id. A new one that is given no secret gets one that is created here. */
async function upsertRecipient(
  { db, encryption, clock, config }: WebhooksContext,
  { locationId, recipient }: { locationId: string; recipient: UpsertWebhookRecipient },
) {
  const { name, hmacSecret, apiKey } = recipient;
  const id = recipient.id?.toLowerCase() ?? randomUUID();
  const sealedApiKey = apiKey === undefined || apiKey === null ? apiKey : encryption.encrypt(apiKey);
  return db.transaction(async (tx) => {
    await lockLocationWebhooks(tx, db, locationId);
    const now = clock();
    const content = { name, updatedAt: now, ...(sealedApiKey !== undefined && { sealedApiKey }) };
    const inserted = await tx`
      insert into recipients ${tx({ ...content, id, locationId, createdAt: now })}
      on conflict (id) do nothing`;
    const isNew = inserted.count === 1;
    if (isNew) {
      const max = config.RECIPIENTS_PER_LOCATION;
      const { count } = await tx`select from recipients where location_id = ${locationId} limit ${max + 1}`;
      if (count > max) throw createLocationLimitError("recipients", max);
    } else {
      if (!(await lockRecipient(tx, { id, locationId }))) {
        throw new ApiError("recipient_conflict", { detail: "Choose another id, or leave it out to be given one." });
      }
      await tx`update recipients set ${tx(content)} where id = ${id}`;
      await incrementWebhookRevisions(tx, id);
    }
    const createdSecret =
      isNew || hmacSecret !== undefined
        ? await setRecipientSecret({ encryption }, tx, { recipientId: id, hmacSecret, now })
        : null;
    return { isNew, reply: await readRecipientWithSecret(tx, { id, createdSecret, now }) };
  });
}

export const listRecipientsRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/recipients/",
  operationId: "listRecipients",
  summary: "List recipients",
  description: "The recipients of webhooks of the location, newest first.",
  request: { query: z.object({ ...locationIdQuery, ...paginationQueryShape }) },
  responses: { 200: { description: "A page of recipients", schema: paginatedSchema(WebhookRecipient) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, clock }, url, origin }) {
    const { sql } = db;
    const locationId = resolveLocationId(principal, query.locationId);
    const columns = recipientColumns(sql, clock());
    const where = sql`location_id = ${locationId}`;
    return newestRowsPageResponse<RecipientRow>({ query, url, origin }, sql, {
      columns,
      table: sql`recipients r`,
      where,
    });
  },
});

export const rotateRecipientSecretRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/recipients/{id}/rotate",
  operationId: "rotateRecipientSecret",
  summary: "Rotate a recipient's secret",
  description:
    "Gives the recipient another secret: the one in the body, or one that is made and shown in this reply, and never again. For 24 hours messages are signed with both: webhook-signature carries a signature for each, and x-popina-hmac-signature stays under the secret of before. Say isLeaked to end the secrets of before at once.",
  request: { params: recipientParams, body: jsonBodyParser(RotateRecipientSecret) },
  responses: { 200: { description: "The recipient", schema: WebhookRecipientWithSecret } },
  errors: ["recipient_not_found", "too_many_secrets"],
  async handle({ params, body, principal, services }) {
    const target = toLocationScopedId(params, principal);
    const now = services.clock();
    const recipient = await services.db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, target))) throw new ApiError("recipient_not_found");
      const createdSecret = await setRecipientSecret(services, tx, { ...body, recipientId: target.id, now });
      await incrementWebhookRevisions(tx, target.id);
      return readRecipientWithSecret(tx, { id: target.id, createdSecret, now });
    });
    return jsonResponse(200, recipient, { "cache-control": "no-store" });
  },
});

export const deleteRecipientRoute = defineWebhooksRoute({
  method: "delete",
  path: "/v1/recipients/{id}",
  operationId: "deleteRecipient",
  summary: "Delete a recipient",
  description: "Deletes a recipient that has no webhooks, with its secrets.",
  request: { params: recipientParams },
  responses: { 204: { description: "The recipient is deleted" } },
  errors: ["recipient_not_found", "recipient_in_use"],
  async handle({ params, principal, services: { db } }) {
    const target = toLocationScopedId(params, principal);
    await db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, target))) throw new ApiError("recipient_not_found");
      const deleted = await tx`
        delete from recipients r where id = ${target.id} and not exists (select from webhooks where recipient_id = r.id)`;
      if (deleted.count === 1) return;
      throw new ApiError("recipient_in_use", {
        detail: "Delete its webhooks first. Those with a long log take a while to be gone after they are deleted.",
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});
