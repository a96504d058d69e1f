import type { CatalogListName } from "@pragma/contracts/catalog";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { emptyCatalog, type SerializedCatalog, type SerializedCatalogList } from "../serialize-catalog.ts";

/** The version of a location's catalog. */
export interface CatalogVersion {
  etag: string;
  updatedAt: Date;
}

/** Locks a location's catalog until the transaction ends, and returns its version. Inserts a missing catalog. */
export async function lockCatalog(tx: SqlTransaction, locationId: string): Promise<CatalogVersion> {
  await tx`
    insert into catalogs ${tx({ locationId, etag: emptyCatalog.etag })}
    on conflict (location_id) do nothing`;
  const [current] = await tx<[CatalogVersion]>`
    select etag, updated_at from catalogs where location_id = ${locationId} for update`;
  return current;
}

/** Replaces a locked catalog and returns its new version. Unchanged lists are not written. */
export async function upsertCatalog(
  tx: SqlTransaction,
  locationId: string,
  { etag, lists }: SerializedCatalog,
): Promise<CatalogVersion> {
  const storedLists = await tx<{ list: CatalogListName; etag: string }[]>`
    select list, etag from catalog_lists where location_id = ${locationId}`;
  const storedEtags = new Map(storedLists.map((row) => [row.list, row.etag]));
  const changed = (Object.entries(lists) as [CatalogListName, SerializedCatalogList][])
    .filter(([list, serialized]) => serialized.etag !== storedEtags.get(list))
    .map(([list, serialized]) => ({ locationId, list, ...serialized }));
  if (changed.length > 0) {
    await tx`
      insert into catalog_lists ${tx(changed)}
      on conflict (location_id, list) do update set etag = excluded.etag, body = excluded.body`;
  }
  const [updated] = await tx<[CatalogVersion]>`
    update catalogs set etag = ${etag}, updated_at = now() where location_id = ${locationId}
    returning etag, updated_at`;
  return updated;
}

/** A list of a catalog. The body is missing if the client has the current list in its cache. */
export interface StoredCatalogList {
  etag: string;
  body: string | null;
}

/**
 * Returns a list of a location's catalog. The entity tag of the list of products is that of the whole catalog. Clients
 * read it and replace the catalog at the same path, so the tag must change when any of the lists changes.
 */
export async function findCatalogList(
  sql: SqlClient,
  { locationId, list, cachedEtags }: { locationId: string; list: CatalogListName; cachedEtags: string[] },
): Promise<StoredCatalogList> {
  const etag = list === "products" ? sql`catalogs.etag` : sql`catalog_lists.etag`;
  const [stored] = await sql<StoredCatalogList[]>`
    select ${etag} as etag, case when ${etag} = any(${cachedEtags}::text[]) then null else body end as body
    from catalogs join catalog_lists using (location_id)
    where location_id = ${locationId} and list = ${list}`;
  if (stored) return stored;
  const { body } = emptyCatalog.lists[list];
  return { body, etag: list === "products" ? emptyCatalog.etag : emptyCatalog.lists[list].etag };
}
