import { listPartitionNames } from "@pragma/runtime/database/partitions";
import type { Database, SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";

/** The key of a till. */
export interface TillKey {
  locationId: string;
  tillId: string;
}

/** Returns the applied revision of a till, the hash of its body, and when the till was first pushed. */
export async function findAppliedTill(
  sql: SqlClient | SqlTransaction,
  { locationId, tillId }: TillKey,
): Promise<{ revision: number; hash: string; pushedAt: Date } | undefined> {
  const [till] = await sql<{ revision: number; hash: string; pushedAt: Date }[]>`
    select revision, hash, pushed_at from tills where location_id = ${locationId} and till_id = ${tillId}`;
  return till;
}

interface TillRevision extends TillKey {
  revision: number;
  pushedAt: string;
  object: { hash: string };
  /** Whether the body is a copy of the previous revision's body from which personal data was erased. */
  isErasure?: boolean | undefined;
}

/**
 * Locks the till's row and returns the highest revision that was recorded before; 0 if there was none. Records the new
 * revision if it is higher.
 *
 * @throws `PermanentEventError` when the same revision was recorded with a different body.
 */
export async function recordTillRevision(
  tx: SqlTransaction,
  { tillId, locationId, revision, pushedAt, object: { hash }, isErasure = false }: TillRevision,
): Promise<number> {
  const [inserted, [current]] = await Promise.all([
    tx`insert into tills ${tx({ tillId, locationId, revision, pushedAt, hash })} on conflict do nothing`,
    tx<[{ revision: number; hash: string }]>`
      select revision, hash from tills where location_id = ${locationId} and till_id = ${tillId} for update`,
  ]);
  if (inserted.count === 1) return 0;
  if (current.revision < revision) {
    // A skipped revision may have added personal data that this erasure did not remove. Therefore, the till is no
    // longer marked as erased, and a later erasure includes it again.
    const hasSkipped = revision > current.revision + 1;
    const mayHavePersonalData = (!isErasure || hasSkipped) && current.hash !== hash;
    await tx`
      update tills set ${tx({ revision, hash, ...(mayHavePersonalData && { erasedAt: null }) })}
      where location_id = ${locationId} and till_id = ${tillId}`;
  }
  if (current.revision === revision && current.hash !== hash) {
    throw new PermanentEventError(
      `Revision ${revision} of till ${tillId} has body ${hash}, but was applied earlier with body ${current.hash}.`,
    );
  }
  return current.revision;
}

/**
 * Yields the tills without a report that were pushed before a time, in batches, by partition. `skippedTillIds` can grow
 * meanwhile.
 */
export async function* listTillsWithoutReportBefore(
  { sql }: Database,
  { before, skippedTillIds, limit }: { before: string; skippedTillIds: string[]; limit: number },
): AsyncGenerator<TillKey[]> {
  for (const partition of await listPartitionNames(sql, "tills")) {
    const reports = sql(partition.replace("tills", "reports"));
    for (let count = limit; count === limit; ) {
      const tills = await sql<TillKey[]>`
        select location_id, till_id from ${sql(partition)} t
        where pushed_at < ${before} and till_id <> all(${skippedTillIds}::uuid[]) and not exists (
          select from ${reports} r where r.location_id = t.location_id and r.till_id = t.till_id
        )
        limit ${limit}`;
      yield tills;
      count = tills.length;
    }
  }
}
