import { randomUUID } from "node:crypto";
import { ApiError } from "@pragma/contracts/errors";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { Recipient, RecipientWithSecret, UpsertRecipient } from "@pragma/contracts/recipient";
import { jsonBody } from "@pragma/runtime/define-route";
import { namedLocation, ownLocation } from "@pragma/runtime/locations";
import { json } from "@pragma/runtime/reply";
import { replyWithNewest } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import { recipientReply, useSecret } from "../change-secret.ts";
import {
  lockLocation,
  lockRecipient,
  outdateWebhooks,
  type RecipientRow,
  recipientColumns,
} from "../queries/recipients.ts";
import { defineRoute, type Webhooks } from "../webhooks.ts";
import { limitReached, locationQuery, readable, recipientParams } from "./params.ts";

export const upsertRecipientRoute = defineRoute({
  method: "post",
  path: "/v1/recipients/",
  operationId: "upsertRecipient",
  summary: "Make or change a recipient",
  description:
    "Makes a recipient of webhooks, or changes the one of this id in the same location. A new one that is given no hmacSecret gets one that is made for it: it is shown in this reply, and never again. Another hmacSecret for a recipient that has one takes its place as a rotation does.",
  request: { body: jsonBody(UpsertRecipient) },
  responses: {
    200: { description: "The recipient as it was changed", schema: RecipientWithSecret },
    201: { description: "The recipient as it was made", schema: RecipientWithSecret },
  },
  errors: ["recipient_conflict", "limit_reached", "too_many_secrets", "location_forbidden", "location_not_found"],
  async handle({ body, principal, services, context }) {
    const { id: locationId } = await namedLocation(principal, body.locationId, services.locations, context);
    const { isNew, reply } = await upsertRecipient(services, { locationId, recipient: body });
    return json(isNew ? 201 : 200, reply, { "cache-control": "no-store" });
  },
});

/** Creates a recipient, or changes the one of this id. A new one that is given no secret gets one that is created here. */
async function upsertRecipient(
  { db, vault, clock, config }: Webhooks,
  { locationId, recipient }: { locationId: string; recipient: UpsertRecipient },
) {
  const { name, hmacSecret, apiKey } = recipient;
  const id = recipient.id?.toLowerCase() ?? randomUUID();
  const sealedApiKey = apiKey === undefined || apiKey === null ? apiKey : vault.seal(apiKey);
  return db.transaction(async (tx) => {
    await lockLocation(tx, db, locationId);
    const now = clock();
    const content = { name, updatedAt: now, ...(sealedApiKey !== undefined && { sealedApiKey }) };
    const inserted = await tx`
      insert into recipients ${tx({ ...content, id, locationId, createdAt: now })}
      on conflict (id) do nothing`;
    const isNew = inserted.count === 1;
    if (isNew) {
      const max = config.RECIPIENTS_PER_LOCATION;
      const { count } = await tx`select from recipients where location_id = ${locationId} limit ${max + 1}`;
      if (count > max) throw limitReached("recipients", max);
    } else {
      if (!(await lockRecipient(tx, { id, locationId }))) {
        throw new ApiError("recipient_conflict", { detail: "Choose another id, or leave it out to be given one." });
      }
      await tx`update recipients set ${tx(content)} where id = ${id}`;
      await outdateWebhooks(tx, id);
    }
    const createdSecret =
      isNew || hmacSecret !== undefined ? await useSecret({ vault }, tx, { recipientId: id, hmacSecret, now }) : null;
    return { isNew, reply: await recipientReply(tx, { id, createdSecret, now }) };
  });
}

export const listRecipientsRoute = defineRoute({
  method: "get",
  path: "/v1/recipients/",
  operationId: "listRecipients",
  summary: "List recipients",
  description: "The recipients of webhooks of the location, newest first.",
  request: { query: z.object({ ...locationQuery, ...pageQuery }) },
  responses: { 200: { description: "A page of recipients", schema: pageOf(Recipient) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query, principal, services: { db, clock }, url, origin }) {
    const { sql } = db;
    const locationId = ownLocation(principal, query.locationId);
    const columns = recipientColumns(sql, clock());
    const where = sql`location_id = ${locationId}`;
    return replyWithNewest<RecipientRow>({ query, url, origin }, sql, { columns, table: sql`recipients r`, where });
  },
});

export const deleteRecipientRoute = defineRoute({
  method: "delete",
  path: "/v1/recipients/{id}",
  operationId: "deleteRecipient",
  summary: "Delete a recipient",
  description: "Deletes a recipient that has no webhooks, with its secrets.",
  request: { params: recipientParams },
  responses: { 204: { description: "The recipient is deleted" } },
  errors: ["recipient_not_found", "recipient_in_use"],
  async handle({ params, principal, services: { db } }) {
    const which = readable(params, principal);
    await db.transaction(async (tx) => {
      if (!(await lockRecipient(tx, which))) throw new ApiError("recipient_not_found");
      const deleted = await tx`
        delete from recipients r where id = ${which.id} and not exists (select from webhooks where recipient_id = r.id)`;
      if (deleted.count === 1) return;
      throw new ApiError("recipient_in_use", {
        detail: "Delete its webhooks first. Those with a long log take a while to be gone after they are deleted.",
      });
    });
    return { status: 204, body: null, headers: {} };
  },
});
