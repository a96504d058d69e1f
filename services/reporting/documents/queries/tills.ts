import type { BusEventData } from "@pragma/contracts/events";
import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
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

/** What is recorded of a revision. If `isErasure` is true, personal data was erased from the previous revision. */
type TillRevision = TillKey &
  Pick<BusEventData<"till.pushed">, "revision" | "pushedAt" | "isErasure"> & { object: { hash: string } };

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

/** Returns tills of a partition of `tills` without a report that were pushed before a time. */
export async function listTillsWithoutReportBefore(
  sql: SqlClient,
  partition: string,
  { before, skippedTillIds, limit }: { before: string; skippedTillIds: string[]; limit: number },
): Promise<TillKey[]> {
  return sql<TillKey[]>`
    select location_id, till_id from ${sql(partition)} t
    where pushed_at < ${before} and till_id <> all(${skippedTillIds}::uuid[]) and not exists (
      select from ${sql(partition.replace("tills", "reports"))} r
      where r.location_id = t.location_id and r.till_id = t.till_id
    )
    limit ${limit}`;
}
