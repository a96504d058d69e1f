import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";

/** Returns the highest revision of a till that was applied; 0 if none was applied. */
export async function findAppliedTillRevisionNumber(sql: SqlClient, tillId: string): Promise<number> {
  const [current] = await sql<{ revision: number }[]>`select revision from tills where till_id = ${tillId}`;
  return current?.revision ?? 0;
}

interface TillRevision {
  tillId: string;
  locationId: string;
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
export async function recordTillRevisionAndGetPrevious(
  tx: SqlTransaction,
  { tillId, locationId, revision, pushedAt, object: { hash }, isErasure = false }: TillRevision,
): Promise<number> {
  const [current] = await tx<{ revision: number; hash: string | null }[]>`
    select revision, hash from tills where till_id = ${tillId} for update`;
  if (!current) {
    await tx`insert into tills ${tx({ tillId, locationId, revision, pushedAt, hash })}`;
    return 0;
  }
  if (current.revision < revision) {
    // A skipped revision may have added personal data that this erasure did not remove. Therefore, the till is no
    // longer marked as erased, and a later erasure includes it again.
    const hasSkipped = revision > current.revision + 1;
    const mayHavePersonalData = (!isErasure || hasSkipped) && current.hash !== hash;
    await tx`update tills set ${tx({ revision, hash, ...(mayHavePersonalData && { erasedAt: null }) })} where till_id = ${tillId}`;
  }
  if (current.revision === revision && current.hash !== null && current.hash !== hash) {
    throw new PermanentEventError(
      `Revision ${revision} of till ${tillId} has body ${hash}, but was applied earlier with body ${current.hash}.`,
    );
  }
  return current.revision;
}

/** Returns the locations of tills by till id. Tills that do not exist are omitted. */
export async function findLocationIdsOfTills(tx: SqlTransaction, ids: string[]): Promise<Map<string, string>> {
  const rows = await tx<{ tillId: string; locationId: string }[]>`
    select till_id, location_id from tills where till_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ tillId, locationId }) => [tillId, locationId]));
}
