import type { CatalogItemListName } from "@pragma/contracts/catalog";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import {
  emptySerializedCatalog,
  type SerializedCatalog,
  type SerializedCatalogItemList,
} from "../serialize-catalog.ts";

export interface CatalogEtagAndUpdateTime {
  etag: string;
  updatedAt: Date;
}

/** Replaces a locked catalog, and returns its new entity tag and update time. Writes only the changed lists. */
export async function replaceChangedCatalogLists(
  tx: SqlTransaction,
  locationId: string,
  { etag, lists }: SerializedCatalog,
): Promise<CatalogEtagAndUpdateTime> {
  const storedLists = await tx<{ list: CatalogItemListName; etag: string }[]>`
    select list, etag from catalog_lists where location_id = ${locationId}`;
  const storedEtags = new Map(storedLists.map((row) => [row.list, row.etag]));
  const changed = (Object.entries(lists) as [CatalogItemListName, SerializedCatalogItemList][])
    .filter(([list, serialized]) => serialized.etag !== storedEtags.get(list))
    .map(([list, serialized]) => ({ locationId, list, ...serialized }));
  if (changed.length > 0) {
    await tx`
      insert into catalog_lists ${tx(changed)}
      on conflict (location_id, list) do update set etag = excluded.etag, body = excluded.body`;
  }
  const [updated] = await tx<[CatalogEtagAndUpdateTime]>`
    update catalogs set etag = ${etag}, updated_at = now() where location_id = ${locationId}
    returning etag, updated_at`;
  return updated;
}

/**
 * Returns a list of a location's catalog. The list of products has the entity tag of the whole catalog, because clients
 * send this tag as If-Match when they replace the catalog. The body is null if the client has already cached the current
 * list, or if it is larger than `maxBytes`.
 */
export async function findCatalogItemList(
  sql: SqlClient,
  {
    locationId,
    list,
    cachedEtags,
    maxBytes,
  }: { locationId: string; list: CatalogItemListName; cachedEtags: string[]; maxBytes: number },
): Promise<{ etag: string; body: string | Uint8Array | null; omittedBytes?: number }> {
  const tag = list === "products" ? sql`catalogs.etag` : sql`catalog_lists.etag`;
  // Reads raw bytes, because the stored text is sent unchanged.
  const [stored]: unknown[] = await sql`
    select etag, case when bytes <= ${maxBytes}::int then body end, case when bytes > ${maxBytes}::int then bytes end
    from (
      select ${tag} as etag, body,
        case when ${tag} = any(${cachedEtags}::text[]) then null else octet_length(body) end as bytes
      from catalogs join catalog_lists using (location_id)
      where location_id = ${locationId} and list = ${list}
    ) as stored`.raw();
  if (stored) {
    const [etag, body, bytes] = stored as [etag: Buffer, body: Buffer | null, bytes: Buffer | null];
    return { etag: String(etag), body, ...(bytes && { omittedBytes: Number(bytes) }) };
  }
  const { body } = emptySerializedCatalog.lists[list];
  return { body, etag: list === "products" ? emptySerializedCatalog.etag : emptySerializedCatalog.lists[list].etag };
}
