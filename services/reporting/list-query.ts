import { dayInQuery, pageQuery } from "@pragma/contracts/pagination";
import type { RouteInput } from "@pragma/runtime/define-route";
import { ownLocation } from "@pragma/runtime/own-location";
import { dayInToken, decodePageToken, encodePageToken, instantInToken, pageReply } from "@pragma/runtime/page";
import type { Reply } from "@pragma/runtime/reply";
import { z } from "zod";
import { findPage } from "./queries/lists.ts";
import type { Kind } from "./queries/stretches.ts";
import type { Reporting } from "./reporting.ts";

/** The query of every list of this service. */
export const listQuery = z.object({
  ...pageQuery,
  since: dayInQuery.optional(),
  until: dayInQuery.optional(),
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

/** The last record of a page, and the number of the page that begins after it. */
const placeSchema = z.object({ day: dayInToken, at: instantInToken, id: z.guid(), index: z.int().min(1) });

type ListInput = Pick<
  RouteInput<undefined, typeof listQuery, undefined, Reporting>,
  "query" | "principal" | "services" | "url" | "origin"
>;

/** Answers a page of a location's reports or orders, from the column that holds the wanted shape. */
export async function replyWithPage(
  { query, principal, services, url, origin }: ListInput,
  { kind, body, reportId = null }: { kind: Kind; body: string; reportId?: string | null },
): Promise<Reply> {
  const { size, since = null, until = null, pageToken } = query;
  const place = pageToken === undefined ? undefined : decodePageToken(pageToken, placeSchema);
  const index = place?.index ?? query.index;
  const filter = { locationId: ownLocation(principal, query.locationId), kind, since, until, reportId };
  const { total, items, last } = await findPage(services.db, filter, {
    start: place ? { after: place } : { index },
    size,
    body,
  });
  const nextPageToken = last && encodePageToken({ ...last, index: index + 1 });
  return pageReply({ items: items === "" ? [] : [items], total, index, size, url, origin, nextPageToken });
}
