import type { ReplaceCatalogResponse } from "@pragma/contracts/catalog";
import { ApiError } from "@pragma/contracts/errors";
import { consumeDailyQuotaOrThrow } from "@pragma/runtime/admission/daily-quota";
import { parseEntityTags } from "@pragma/runtime/http/route-response";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import type { ObservabilityContext } from "@pragma/runtime/observability/request-context";
import type { CatalogServiceContext } from "./context.ts";
import { type CatalogEtagAndUpdateTime, replaceChangedCatalogLists } from "./queries/catalogs.ts";
import { emptySerializedCatalog, type SerializedCatalog } from "./serialize-catalog.ts";

interface CatalogReplacement {
  locationId: string;
  catalog: SerializedCatalog;
  /** The If-Match header of the request: the entity tag of the catalog to replace. */
  ifMatch: string | undefined;
  context: ObservabilityContext;
}

/** The daily quota of changes. Without it, the events about tiny catalogs could fill the stream of all locations. */
const changeQuota = { name: "catalogs", maximum: 20_000, unit: "changed catalogs" };

/**
 * Replaces a location's catalog and publishes `catalog.updated`, if it changes, and returns a summary. Requests of one
 * location wait for each other. @throws `ApiError` precondition_failed if the catalog would change and `ifMatch` does
 * not match; quota_exceeded.
 */
export async function replaceCatalog(
  { db, quota }: Pick<CatalogServiceContext, "db" | "quota">,
  { locationId, catalog, ifMatch, context: { traceparent } }: CatalogReplacement,
): Promise<ReplaceCatalogResponse> {
  return db.transaction(async (tx) => {
    await tx`
      insert into catalogs ${tx({ locationId, etag: emptySerializedCatalog.etag })}
      on conflict (location_id) do nothing`;
    const [current] = await tx<[CatalogEtagAndUpdateTime]>`
      select etag, updated_at from catalogs where location_id = ${locationId} for update`;
    const { etag, counts, lists } = catalog;
    const changed = current.etag !== etag;
    // If the catalog is unchanged, If-Match is ignored, because the request may be a retry after a lost response.
    if (changed && ifMatch !== undefined) requireMatchingEtag(parseEntityTags(ifMatch), current.etag);
    if (changed) {
      const bytes = Object.values(lists).reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      await consumeDailyQuotaOrThrow(tx, { locationId, quota: changeQuota, amount: 1 });
      await consumeDailyQuotaOrThrow(tx, { locationId, quota, amount: bytes });
    }
    const { updatedAt } = changed ? await replaceChangedCatalogLists(tx, locationId, catalog) : current;
    if (changed) {
      const data = { locationId, etag, counts };
      await writeEventToOutbox(tx, "catalog.updated", { subject: locationId, data, traceparent });
    }
    return { locationId, updatedAt: updatedAt.toISOString(), changed, etag, counts };
  });
}

/** Throws precondition_failed unless a tag matches. `*` matches every catalog, even the empty one of a new location. */
function requireMatchingEtag(tags: string[], etag: string): void {
  if (tags.includes(etag) || tags.includes("*")) return;
  throw new ApiError("precondition_failed", {
    detail:
      "The current ETag of the catalog differs from If-Match, because the catalog has changed. Read the catalog again, and repeat the request with the new ETag.",
    headers: { etag: `"${etag}"` },
  });
}
