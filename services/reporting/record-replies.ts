import { ApiError } from "@pragma/contracts/errors";
import { dayInQuery, pageQuery } from "@pragma/contracts/pagination";
import type { RouteInput } from "@pragma/runtime/define-route";
import { ownLocation, readableLocation } from "@pragma/runtime/own-location";
import { type Reply, tagged } from "@pragma/runtime/reply";
import { dayInToken, instantInToken, replyWithLargePage } from "@pragma/runtime/reply-with-page";
import { z } from "zod";
import type { Kind } from "./queries/day-counts.ts";
import { findPage, findRecord } from "./queries/lists.ts";
import type { Reporting } from "./reporting.ts";

/** The query of every list of this service. */
export const listQuery = z.object({
  ...pageQuery,
  since: dayInQuery.optional(),
  until: dayInQuery.optional(),
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

/** The last record of a page. */
const placeSchema = z.object({ day: dayInToken, at: instantInToken, id: z.guid() });

type ListInput = Pick<
  RouteInput<undefined, typeof listQuery, undefined, Reporting>,
  "query" | "principal" | "services" | "url" | "origin"
>;

/** Answers a page of a location's reports or orders, from the column that holds the wanted shape. */
export async function replyWithPage(
  { query, principal, services, url, origin }: ListInput,
  { kind, body, reportId = null }: { kind: Kind; body: string; reportId?: string | null },
): Promise<Reply> {
  const { since = null, until = null } = query;
  const filter = { locationId: ownLocation(principal, query.locationId), kind, since, until, reportId };
  return replyWithLargePage({ query, principal, url, origin }, placeSchema, (range) =>
    findPage(services.db, filter, { ...range, body, maxBytes: services.pageMaxBytes }),
  );
}

type RecordInput = Pick<
  RouteInput<z.ZodObject<{ id: z.ZodGUID }>, undefined, undefined, Reporting>,
  "params" | "principal" | "services" | "header"
>;

/** Answers one report or order, from the column that holds the wanted shape; one of another location is not found. */
export async function replyWithRecord(
  { params: { id }, principal, services, header }: RecordInput,
  { kind, body }: { kind: Kind; body: string },
): Promise<Reply> {
  const found = await findRecord(services.db, { kind, id, locationId: readableLocation(principal), body });
  if (!found) throw new ApiError(`${kind}_not_found`, { detail: `This location has no ${kind} ${id}.` });
  return tagged(found.body, { etag: found.etag, ifNoneMatch: header("if-none-match") });
}
