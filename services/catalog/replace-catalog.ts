import type { ReplacedCatalog } from "@pragma/contracts/catalog";
import { ApiError } from "@pragma/contracts/errors";
import { consumeDailyQuota } from "@pragma/runtime/daily-quota";
import { entityTagsIn } from "@pragma/runtime/entity-tags";
import { publish } from "@pragma/runtime/outbox";
import type { RequestContext } from "@pragma/runtime/request-context";
import type { CatalogService } from "./catalog.ts";
import type { CatalogTexts } from "./catalog-texts.ts";
import { lockCatalog, putCatalog } from "./queries/catalogs.ts";

interface ReplaceCatalog {
  locationId: string;
  catalog: CatalogTexts;
  /** The header of that name: the catalogue that the new one is to take the place of, if it says. */
  ifMatch: string | undefined;
  context: RequestContext;
}

/**
 * Puts a catalogue in the place of the one that the location has, with its `catalog.updated`, in one transaction; the
 * same catalogue changes nothing. Of catalogues that come at once each takes the place of the one before, whole.
 *
 * @throws `ApiError` precondition_failed when the location has another than `ifMatch` names; quota_exceeded.
 */
export async function replaceCatalog(
  { db, quota }: Pick<CatalogService, "db" | "quota">,
  { locationId, catalog, ifMatch, context: { traceparent } }: ReplaceCatalog,
): Promise<ReplacedCatalog> {
  return db.transaction(async (tx) => {
    const held = await lockCatalog(tx, locationId);
    const { etag, counts } = catalog;
    const changed = held.etag !== etag;
    // One that is in place already did what was asked: its answer may have been lost.
    if (changed && ifMatch !== undefined) demandMatch(entityTagsIn(ifMatch), held.etag);
    if (changed) await consumeDailyQuota(tx, { locationId, quota, amount: bytesOf(catalog) });
    const { updatedAt } = changed ? await putCatalog(tx, locationId, catalog) : held;
    if (changed) {
      const data = { locationId, etag, counts };
      await publish(tx, "catalog.updated", { subject: locationId, data, traceparent });
    }
    return { locationId, updatedAt: updatedAt.toISOString(), changed, etag, counts };
  });
}

function bytesOf({ lists }: CatalogTexts): number {
  return Object.values(lists).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
}

/** A catalogue always exists, be it empty: `*` matches each. */
function demandMatch(tags: string[], etag: string): void {
  if (tags.includes(etag) || tags.includes("*")) return;
  throw new ApiError("precondition_failed", {
    detail: "The catalogue is another than If-Match says. Read it again, and send yours with the new entity tag.",
    headers: { etag: `"${etag}"` },
  });
}
