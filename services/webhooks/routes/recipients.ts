import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { paginatedSchema } from "@pragma/contracts/pagination";
import type { LocationRef } from "@pragma/contracts/principal";
import {
  RotateSecretRequest,
  UpsertWebhookRecipientRequest,
  WebhookRecipient,
  WebhookRecipientWithSecret,
} from "@pragma/contracts/webhook-recipient";
import { lockInTransaction } from "@pragma/runtime/database/postgres";
import { createValidatingJsonBodyParser } from "@pragma/runtime/http/define-route";
import { queryNewestRowsPageResponse } from "@pragma/runtime/http/page-response";
import { jsonResponse } from "@pragma/runtime/http/route-response";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { resolveAuthorizedLocationId, resolveRequestedLocation } from "@pragma/runtime/service-calls/location-lookup";
import { defineWebhooksRoute, type WebhooksServiceContext } from "../context.ts";
import {
  findRecipientWithSecret,
  incrementWebhookRevisions,
  lockWebhookRecipient,
  type WebhookRecipientRow,
  webhookRecipientColumns,
} from "../queries/recipients.ts";
import { setWebhookRecipientSecret } from "../set-recipient-secret.ts";
import {
  createPerLocationLimitError,
  getPathIdWithReadableLocation,
  listOfLocationQuery,
  webhookRecipientPathParams,
} from "./params.ts";

export const upsertWebhookRecipientRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/recipients/",
  operationId: "upsertRecipient",
  summary: "Create or update a recipient",
  description:
    "Creates a recipient of webhook messages. If `id` identifies an existing recipient of the location, the API updates that recipient instead. If you create a recipient without an `hmacSecret`, the API generates a secret and returns it only in this response. If you send a different `hmacSecret` for an existing recipient, the secret is rotated. `signingSecret` is the secret in the format that Standard Webhooks libraries expect, also if the request contained it.",
  request: { body: createValidatingJsonBodyParser(UpsertWebhookRecipientRequest) },
  responses: {
    200: { description: "The recipient after the update", schema: WebhookRecipientWithSecret },
    201: { description: "The new recipient, with its secret", schema: WebhookRecipientWithSecret },
  },
  errors: ["recipient_conflict", "limit_reached", "too_many_secrets", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context, audit }) {
    const location = await resolveRequestedLocation(principal, body.locationId, services.locations, context);
    const { isNew, recipient } = await upsertRecipient(services, { location, input: body, audit });
    return jsonResponse(isNew ? 201 : 200, recipient, { "cache-control": "no-store" });
  },
});

async function upsertRecipient(
  { db, encryption, clock, config }: WebhooksServiceContext,
  {
    location: { id: locationId, isSandbox },
    input,
    audit,
  }: { location: Pick<LocationRef, "id" | "isSandbox">; input: UpsertWebhookRecipientRequest; audit: AuditSource },
) {
  const { name, hmacSecret, apiKey } = input;
  const id = input.id?.toLowerCase() ?? randomUUID();
  const encryptedApiKey = apiKey === undefined || apiKey === null ? apiKey : encryption.encrypt(apiKey);
  return db.transaction(async (tx) => {
    // So that concurrent requests cannot exceed the limit.
    await lockInTransaction(tx, db, `location ${locationId}`);
    const now = clock();
    const recipientKey = { locationId, id };
    const content = { name, updatedAt: now, ...(encryptedApiKey !== undefined && { encryptedApiKey }) };
    const inserted = await tx`
      insert into recipients ${tx({ ...content, id, locationId, createdAt: now })}
      on conflict (id) do nothing`;
    const isNew = inserted.count === 1;
    if (isNew) {
      const max = isSandbox ? config.MAX_WEBHOOKS_PER_SANDBOX : config.MAX_RECIPIENTS_PER_LOCATION;
      const { count } = await tx`select from recipients where location_id = ${locationId} limit ${max + 1}`;
      if (count > max) throw createPerLocationLimitError("recipients", max);
    } else {
      const detail = "Use another ID, or omit the ID so that the API generates one.";
      if (!(await lockWebhookRecipient(tx, recipientKey))) throw new ApiError("recipient_conflict", { detail });
      await tx`update recipients set ${tx(content)} where location_id = ${locationId} and id = ${id}`;
      await incrementWebhookRevisions(tx, recipientKey);
    }
    const returnedSecret =
      isNew || hmacSecret !== undefined
        ? await setWebhookRecipientSecret({ encryption }, tx, { recipientKey, hmacSecret, now })
        : { hmacSecret: null, signingSecret: null };
    const fields = Object.entries({ name, hmacSecret, apiKey }).flatMap(([field, value]) =>
      value === undefined ? [] : [field],
    );
    await publishAuditEvent(tx, audit, {
      ...{ action: isNew ? "recipient.created" : "recipient.changed", locationId, target: { type: "recipient", id } },
      details: { fields },
    });
    return { isNew, recipient: await findRecipientWithSecret(tx, recipientKey, returnedSecret, now) };
  });
}

export const listWebhookRecipientsRoute = defineWebhooksRoute({
  method: "get",
  path: "/v1/recipients/",
  operationId: "listRecipients",
  summary: "List recipients",
  description: "Returns the recipients of a location, newest first.",
  request: { query: listOfLocationQuery },
  responses: { 200: { description: "A page of recipients, newest first", schema: paginatedSchema(WebhookRecipient) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, clock }, url, origin }) {
    const { sql } = db;
    const locationId = resolveAuthorizedLocationId(principal, query.locationId);
    const where = sql`location_id = ${locationId}`;
    const rows = { columns: webhookRecipientColumns(sql, clock()), table: sql`recipients r`, where };
    return queryNewestRowsPageResponse<WebhookRecipientRow>({ query, locationId, principal, url, origin }, sql, rows);
  },
});

export const rotateSecretRoute = defineWebhooksRoute({
  method: "post",
  path: "/v1/recipients/{id}/rotate",
  operationId: "rotateRecipientSecret",
  summary: "Rotate a recipient's secret",
  description:
    "Replaces the recipient's secret with the secret in the request body. If the body contains no secret, the API generates a secret and returns it only in this response. Previous secrets expire 24 hours after they are replaced. Until then, `webhook-signature` contains a signature for each active secret, and `x-popina-hmac-signature` uses the oldest active secret. Set `isLeaked` to `true` to expire all previous secrets immediately.",
  request: { params: webhookRecipientPathParams, body: createValidatingJsonBodyParser(RotateSecretRequest) },
  responses: { 200: { description: "The recipient, with its new secret", schema: WebhookRecipientWithSecret } },
  errors: ["recipient_not_found", "too_many_secrets"],
  async handle({ params, body, principal, services, audit }) {
    const target = getPathIdWithReadableLocation(params, principal);
    const now = services.clock();
    const recipient = await services.db.transaction(async (tx) => {
      const recipientKey = await lockWebhookRecipient(tx, target);
      if (!recipientKey) throw new ApiError("recipient_not_found");
      const returnedSecret = await setWebhookRecipientSecret(services, tx, { ...body, recipientKey, now });
      await incrementWebhookRevisions(tx, recipientKey);
      const { locationId, id } = recipientKey;
      await publishAuditEvent(tx, audit, {
        ...{ action: "recipient.rotated", locationId, target: { type: "recipient", id } },
        details: { isLeaked: body.isLeaked },
      });
      return findRecipientWithSecret(tx, recipientKey, returnedSecret, now);
    });
    return jsonResponse(200, recipient, { "cache-control": "no-store" });
  },
});

export const deleteWebhookRecipientRoute = defineWebhooksRoute({
  method: "delete",
  path: "/v1/recipients/{id}",
  operationId: "deleteRecipient",
  summary: "Delete a recipient",
  description: "Deletes a recipient and its secrets. A recipient that has webhooks cannot be deleted.",
  request: { params: webhookRecipientPathParams },
  responses: { 204: { description: "The recipient was deleted" } },
  errors: ["recipient_not_found", "recipient_in_use"],
  async handle({ params, principal, services: { db }, audit }) {
    const target = getPathIdWithReadableLocation(params, principal);
    await db.transaction(async (tx) => {
      const recipientKey = await lockWebhookRecipient(tx, target);
      if (!recipientKey) throw new ApiError("recipient_not_found");
      const { locationId, id } = recipientKey;
      const deleted = await tx`
        delete from recipients r where location_id = ${locationId} and id = ${id}
          and not exists (select from webhooks where location_id = ${locationId} and recipient_id = r.id)`;
      if (deleted.count === 0)
        throw new ApiError("recipient_in_use", {
          detail:
            "Delete the recipient's webhooks first. If you have already deleted them, try again later, because removing a webhook with many deliveries takes some time.",
        });
      const deletedRecipient = { type: "recipient", id };
      await publishAuditEvent(tx, audit, { action: "recipient.deleted", locationId, target: deletedRecipient });
    });
    return { status: 204, body: null, headers: {} };
  },
});
