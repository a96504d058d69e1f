import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";

/** Returns the id of the location that uses a till id; undefined if no location does. */
export async function findTillLocationId({ sql }: Pick<Database, "sql">, tillId: string): Promise<string | undefined> {
  const [row] = await sql<{ locationId: string }[]>`
    select location_id from till_directory where till_id = ${tillId}`;
  return row?.locationId;
}

/**
 * Reserves a till id for a location, and returns the location that has it. Waits for concurrent transactions with the
 * id.
 */
export async function claimTillId(
  tx: SqlTransaction,
  { tillId, locationId }: { tillId: string; locationId: string },
): Promise<string> {
  const { count } = await tx`
    insert into till_directory ${tx({ tillId, locationId })} on conflict (till_id) do nothing`;
  if (count > 0) return locationId;
  // The lock keeps the till from being removed until the transaction ends.
  const [row] = await tx<{ locationId: string }[]>`
    select location_id from till_directory where till_id = ${tillId} for key share`;
  // Without a row, the till was removed in the meantime because of its age.
  return row ? row.locationId : claimTillId(tx, { tillId, locationId });
}

/** Waits for pushes of a till, and locks its directory row until the transaction ends. */
export async function lockTillId(tx: SqlTransaction, tillId: string): Promise<void> {
  await tx`select from till_directory where till_id = ${tillId} for update`;
}
