import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";

/** An object in the object store to which no till refers. */
export interface UnusedObject {
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
