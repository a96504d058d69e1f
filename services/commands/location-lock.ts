import { computeAdvisoryLockKey, type Database } from "@pragma/runtime/database/postgres";

/** Runs `work` while no other command imports or removes this location. @throws `Error` if one does. */
export async function withLocationLock<Result>(
  { sql, schema }: Database,
  locationId: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const lockKey = computeAdvisoryLockKey(schema, `location ${locationId}`);
  const connection = await sql.reserve();
  try {
    const [row] = await connection<{ isLocked: boolean }[]>`
      select pg_try_advisory_lock(${lockKey}::bigint) as is_locked`;
    if (!row?.isLocked) throw new Error("Another command is importing or removing this location.");
    return await work();
  } finally {
    await connection`select pg_advisory_unlock(${lockKey}::bigint)`.catch(() => {});
    connection.release();
  }
}
