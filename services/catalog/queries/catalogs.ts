import type { CatalogListName } from "@pragma/contracts/catalog";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { emptyCatalog, type SerializedCatalog, type SerializedCatalogList } from "../serialize-catalog.ts";

/** Which catalogue a location has. */
export interface CatalogVersion {
  etag: string;
  updatedAt: Date;
}

/** Locks the catalogue of a location until the transaction ends; that of a location that never had one is empty. */
export async function lockCatalog(tx: SqlTransaction, locationId: string): Promise<CatalogVersion> {
  await tx`
    insert into catalogs ${tx({ locationId, etag: emptyCatalog.etag })}
    on conflict (location_id) do nothing`;
  const [current] = await tx<[CatalogVersion]>`
    select etag, updated_at from catalogs where location_id = ${locationId} for update`;
  return current;
}

/** Puts another catalogue in the place of the one that is held, which is locked; lists that are the same are left. */
export async function upsertCatalog(
  tx: SqlTransaction,
  locationId: string,
  { etag, lists }: SerializedCatalog,
): Promise<CatalogVersion> {
  const storedLists = await tx<{ list: CatalogListName; etag: string }[]>`
    select list, etag from catalog_lists where location_id = ${locationId}`;
  const tags = new Map(storedLists.map((row) => [row.list, row.etag]));
  const changed = (Object.entries(lists) as [CatalogListName, SerializedCatalogList][])
    .filter(([list, text]) => text.etag !== tags.get(list))
    .map(([list, text]) => ({ locationId, list, ...text }));
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

/** A list as it is sent; without its text when its tag is among those that the client knows. */
export interface StoredCatalogList {
  etag: string;
  body: string | null;
}

/**
 * A list of a location. The tag of its products is that of the whole catalogue: their address is also where a catalogue
 * is put, and what a client read there has to tell whether anything changed since.
 */
export async function findCatalogList(
  sql: SqlClient,
  { locationId, list, known }: { locationId: string; list: CatalogListName; known: string[] },
): Promise<StoredCatalogList> {
  const etag = list === "products" ? sql`catalogs.etag` : sql`catalog_lists.etag`;
  const [found] = await sql<StoredCatalogList[]>`
    select ${etag} as etag, case when ${etag} = any(${known}::text[]) then null else body end as body
    from catalogs join catalog_lists using (location_id)
    where location_id = ${locationId} and list = ${list}`;
  if (found) return found;
  const { body } = emptyCatalog.lists[list];
  return { body, etag: list === "products" ? emptyCatalog.etag : emptyCatalog.lists[list].etag };
}
