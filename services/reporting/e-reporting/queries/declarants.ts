import type { DeclarantSettings } from "@pragma/contracts/e-reporting-declarant";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

export type StoredSettings = DeclarantSettings & { locationIds: string[] };

export interface StoredDeclarant {
  siren: string;
  settings: StoredSettings;
  /** The date until which its periods were compared with what was published. */
  comparedUntil: string | null;
  createdAt: Date;
  updatedAt: Date;
}

const columns = (sql: SqlClient | SqlTransaction) => sql`
  siren, settings, compared_until::text as compared_until, created_at, updated_at`;

export async function upsertDeclarant(
  tx: SqlTransaction,
  { siren, settings }: Pick<StoredDeclarant, "siren" | "settings">,
): Promise<StoredDeclarant & { isNew: boolean }> {
  // The periods that were taken are compared with the new settings.
  await tx`
    insert into e_changed_days (location_id, siren, day)
    select ${settings.locationIds[0] ?? null}::uuid, siren, period from e_transmissions
    where siren = ${siren} and ${settings.locationIds.length > 0} group by siren, period order by period
    on conflict do nothing`;
  const [row] = await tx<[StoredDeclarant & { isNew: boolean }]>`
    insert into e_declarants as existing (siren, settings) values (${siren}, ${tx.json(settings as never)})
    on conflict (siren) do update set settings = excluded.settings, updated_at = now(), compared_until = null
    returning ${columns(tx)}, xmax = 0 as is_new`;
  return row;
}

export async function findDeclarant(
  sql: SqlClient | SqlTransaction,
  siren: string,
): Promise<StoredDeclarant | undefined> {
  const [row] = await sql<StoredDeclarant[]>`
    select ${columns(sql)} from e_declarants where siren = ${siren}`;
  return row;
}

/** Whether a location is null, or the only location of a business. */
const isReadable = (sql: SqlClient | SqlTransaction, locationId: string | null) =>
  locationId === null ? sql`true` : sql`(settings->'locationIds')::jsonb = jsonb_build_array(${locationId}::text)`;

interface DeclarantFilter {
  /** A location that must be the only one of the business. */
  locationId: string | null;
  /** A location that must belong to the business. */
  containing: string | null;
}

const isListed = (sql: SqlClient | SqlTransaction, { locationId, containing }: DeclarantFilter) => sql`
  ${isReadable(sql, locationId)}
  and ${containing === null ? sql`true` : sql`(settings->'locationIds')::jsonb @> jsonb_build_array(${containing}::text)`}`;

/** Returns the businesses with settings, by SIREN. */
export async function listDeclarants(
  sql: SqlClient,
  { after, offset, limit, ...filter }: DeclarantFilter & { after: string | null; offset: number; limit: number },
): Promise<StoredDeclarant[]> {
  return sql<StoredDeclarant[]>`
    select ${columns(sql)} from e_declarants as declarant
    where siren > ${after ?? ""} and ${isListed(sql, filter)}
    order by siren offset ${offset} limit ${limit}`;
}

export async function countDeclarants(sql: SqlClient | SqlTransaction, filter: DeclarantFilter): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*) from e_declarants as declarant where ${isListed(sql, filter)}`;
  return row.count;
}
