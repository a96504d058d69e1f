import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** An object in the object store to which no till refers. */
interface UnusedObject {
  locationId: string;
  objectKey: string;
}

/** Records an object that is about to be uploaded. It is deleted if no till refers to it within an hour. */
export async function recordUpload(
  sql: SqlClient | SqlTransaction,
  { locationId, objectKey }: UnusedObject,
): Promise<void> {
  await sql`
    insert into unused_objects (location_id, object_key, delete_after)
    values (${locationId}, ${objectKey}, now() + interval '1 hour')
    on conflict do nothing`;
}

/** Returns false when the object has been or may be deleted, so that no till may refer to it. */
export async function keepUploadedObject(
  tx: SqlTransaction,
  { locationId, objectKey }: UnusedObject,
): Promise<boolean> {
  const kept = await tx`
    delete from unused_objects
    where location_id = ${locationId} and object_key = ${objectKey} and delete_after > now()`;
  return kept.count === 1;
}

/**
 * Returns expired objects. From then on, `keepUploadedObject` returns false for them, even if the task that deletes them
 * ends before it has deleted their rows, and the clock of the server is set back.
 */
export async function claimExpiredUnusedObjects(sql: SqlClient, limit: number): Promise<UnusedObject[]> {
  return sql<UnusedObject[]>`
    update unused_objects set delete_after = '-infinity'
    where (location_id, object_key) in (
      select location_id, object_key from unused_objects
      where delete_after < now() order by delete_after limit ${limit} for update skip locked
    )
    returning location_id, object_key`;
}

/** Locks an expired object until the transaction ends. Returns false when a till refers to it or another process has it. */
export async function lockExpiredUnusedObject(
  tx: SqlTransaction,
  { locationId, objectKey }: UnusedObject,
): Promise<boolean> {
  const rows = await tx`
    select from unused_objects
    where location_id = ${locationId} and object_key = ${objectKey} and delete_after < now()
    for update skip locked`;
  return rows.count === 1;
}

export async function deleteUnusedObjectRow(
  tx: SqlTransaction,
  { locationId, objectKey }: UnusedObject,
): Promise<void> {
  await tx`delete from unused_objects where location_id = ${locationId} and object_key = ${objectKey}`;
}
