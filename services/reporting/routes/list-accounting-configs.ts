import { AccountingConfig } from "@pragma/contracts/accounting-config";
import { pageOf, pageQuery } from "@pragma/contracts/pagination";
import { ownLocation } from "@pragma/runtime/own-location";
import { decodePageToken, encodePageToken, instantInToken, pageReply } from "@pragma/runtime/page";
import { z } from "zod";
import { listConfigs } from "../queries/accounting-configs.ts";
import { defineRoute } from "../reporting.ts";

const query = z.object({
  ...pageQuery,
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

/** The last config of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ at: instantInToken, id: z.guid(), index: z.int().min(1) });

export const listAccountingConfigs = defineRoute({
  method: "get",
  path: "/v1/accounting/configs/",
  operationId: "listAccountingConfigs",
  tag: "Accounting",
  audience: "public",
  scope: "accounting:write",
  summary: "List accounting configs",
  description: "The configs of the location, newest first, each whole.",
  request: { query },
  responses: { 200: { description: "A page of configs", schema: pageOf(AccountingConfig) } },
  errors: ["invalid_page_token", "location_forbidden"],
  async handle({ query: { size, pageToken, ...query }, principal, services, url, origin }) {
    const after = pageToken === undefined ? null : decodePageToken(pageToken, placeSchema);
    const index = after?.index ?? query.index;
    const locationId = ownLocation(principal, query.locationId);
    // One more than the page holds tells whether there is another page.
    const stretch = { after, offset: after ? 0 : index * size, limit: size + 1 };
    const { rows, total } = await listConfigs(services.db.sql, locationId, stretch);
    const shown = rows.slice(0, size);
    const last = rows.length > size ? shown.at(-1) : undefined;
    const items = shown.map(({ body }) => body);
    const nextPageToken = last
      ? encodePageToken({ at: last.created_at.toISOString(), id: last.id, index: index + 1 })
      : null;
    return pageReply({ items, total, index, size, url, origin, nextPageToken });
  },
});
