import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { PermanentError } from "@pragma/runtime/retries/transient-error";

/** Returns the highest applied revision of a till, or 0. */
export async function findAppliedTillRevision(sql: SqlClient, tillId: string): Promise<number> {
  const [current] = await sql<{ revision: number }[]>`select revision from tills where till_id = ${tillId}`;
  return current?.revision ?? 0;
}

interface TillRevision {
  tillId: string;
  locationId: string;
  revision: number;
  pushedAt: string;
  object: { hash: string };
  /** Whether the body is that of the previous revision without personal data. */
  isErasure?: boolean | undefined;
}

/**
 * Locks the till's row, records the revision if it is the highest, and returns the highest revision before it, or 0.
 *
 * @throws `PermanentError` when the same revision was applied with a different body.
 */
export async function advanceTillRevision(
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
    // A skipped revision may have brought new personal data, which the erasure removed only in part.
    const hasSkipped = revision > current.revision + 1;
    const mayHavePersonalData = (!isErasure || hasSkipped) && current.hash !== hash;
    await tx`update tills set ${tx({ revision, hash, ...(mayHavePersonalData && { erasedAt: null }) })} where till_id = ${tillId}`;
  }
  if (current.revision === revision && current.hash !== null && current.hash !== hash) {
    throw new PermanentError(
      `Revision ${revision} of till ${tillId} was applied with body ${current.hash}, and now has body ${hash}.`,
    );
  }
  return current.revision;
}

/** Returns the location of each of these tills that exists, by till id. */
export async function findLocationsOfTills(tx: SqlTransaction, ids: string[]): Promise<Map<string, string>> {
  const rows = await tx<{ tillId: string; locationId: string }[]>`
    select till_id, location_id from tills where till_id = any(${ids}::uuid[])`;
  return new Map(rows.map(({ tillId, locationId }) => [tillId, locationId]));
}
