import type { CatalogList } from "@pragma/contracts/catalog";
import type { RouteInput } from "@pragma/runtime/define-route";
import { entityTagsIn } from "@pragma/runtime/entity-tags";
import { ownLocation } from "@pragma/runtime/own-location";
import { type Reply, tagged } from "@pragma/runtime/reply";
import { z } from "zod";
import type { CatalogService } from "./catalog.ts";
import { findList } from "./queries/catalogs.ts";

/** The query of every list of this service. */
export const listQuery = z.object({
  locationId: z.guid().optional().meta({ description: "The location of the key, unless the key may act for any" }),
});

type ListInput = Pick<
  RouteInput<undefined, typeof listQuery, undefined, CatalogService>,
  "query" | "principal" | "services" | "header"
>;

/** Answers a whole list of a location's catalogue as a bare array; a location without a catalogue has an empty one. */
export async function replyWithList(
  { query, principal, services, header }: ListInput,
  list: CatalogList,
): Promise<Reply> {
  const locationId = ownLocation(principal, query.locationId);
  const ifNoneMatch = header("if-none-match");
  const { body, etag } = await findList(services.db.sql, { locationId, list, known: entityTagsIn(ifNoneMatch) });
  return tagged(body ?? "", { etag, ifNoneMatch });
}
