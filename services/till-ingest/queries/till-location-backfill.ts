import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

const finished = new WeakSet<Database>();

/**
 * Returns whether every till is in the directory and every revision has its location. This is not so after an upgrade
 * from a version before 1.1, until the periodic task has processed the existing tills.
 */
export async function isTillLocationBackfillFinished(db: Database, sql: SqlClient | SqlTransaction): Promise<boolean> {
  if (finished.has(db)) return true;
  const rows = await sql`select 1 from till_location_backfill where finished_at is not null`;
  if (rows.length > 0) finished.add(db);
  return rows.length > 0;
}

/** Sets the location of these tills' revisions, if the backfill has not finished. */
export async function fillTillRevisionLocations(
  db: Database,
  tx: SqlTransaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<void> {
  if (await isTillLocationBackfillFinished(db, tx)) return;
  await tx`
    update till_versions set location_id = ${locationId}
    where till_id = any(${tillIds}::uuid[]) and location_id is null`;
}

/** Sets the location of the revisions that refer to an object, if the backfill has not finished. */
export async function fillObjectRevisionLocations(
  db: Database,
  { locationId, objectKey }: { locationId: string; objectKey: string },
): Promise<void> {
  if (await isTillLocationBackfillFinished(db, db.sql)) return;
  await db.sql`
    update till_versions set location_id = ${locationId} where object_key = ${objectKey} and location_id is null`;
}

/**
 * Inserts the directory rows of the next existing tills, and sets the location of their revisions. Returns the number
 * of these tills; 0 if the backfill has finished or another instance is working on it.
 */
export async function backfillTillLocations(tx: SqlTransaction, limit: number): Promise<number> {
  const [backfill] = await tx<{ lastTillId: string | null }[]>`
    select last_till_id from till_location_backfill where finished_at is null for update skip locked`;
  if (!backfill) return 0;
  const tills = await tx<{ id: string; locationId: string }[]>`
    select id, location_id from tills
    ${backfill.lastTillId === null ? tx`` : tx`where id > ${backfill.lastTillId}`}
    order by id limit ${limit}`;
  const ids = tills.map(({ id }) => id);
  const locationIds = tills.map(({ locationId }) => locationId);
  const existing = tx`unnest(${ids}::uuid[], ${locationIds}::uuid[]) as till (id, location_id)`;
  await tx`
    insert into till_directory (till_id, location_id) select id, location_id from ${existing}
    on conflict (till_id) do nothing`;
  await tx`
    update till_versions set location_id = till.location_id from ${existing}
    where till_versions.till_id = till.id and till_versions.location_id is null`;
  await tx`
    update till_location_backfill set
      last_till_id = coalesce(${ids.at(-1) ?? null}, last_till_id),
      finished_at = ${tills.length < limit ? tx`now()` : tx`null`}`;
  return tills.length;
}
