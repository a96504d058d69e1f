import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { Recipient } from "@pragma/contracts/recipient";
import { ownLocation } from "@pragma/runtime/own-location";
import { z } from "zod";
import { type RecipientRow, recipientColumns } from "../queries/recipients.ts";
import { replyWithNewest } from "../queries/rows.ts";
import { defineRoute } from "../webhooks.ts";
import { locationQuery } from "./params.ts";

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
