import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { PermanentError } from "@pragma/runtime/retries/transient-error";

/** The highest revision of a till that was applied; 0 when none was. */
export async function findAppliedRevision(sql: SqlClient, tillId: string): Promise<number> {
  const [current] = await sql<{ revision: number }[]>`select revision from tills where till_id = ${tillId}`;
  return current?.revision ?? 0;
}

interface TillRevision {
  tillId: string;
  locationId: string;
  revision: number;
  pushedAt: string;
  object: { hash: string };
  /** Whether it is the body before without personal data. */
  isErasure?: boolean | undefined;
}

/**
 * Locks the till's row, notes this revision if it is the highest yet, and tells which was the highest before (0: none).
 *
 * @throws `PermanentError` when the same revision came with another body before.
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
    // Between the two there may have been a body with personal data, of which only a part was erased.
    const hasSkipped = revision > current.revision + 1;
    const isOtherBody = (!isErasure || hasSkipped) && current.hash !== hash;
    await tx`update tills set ${tx({ revision, hash, ...(isOtherBody && { erasedAt: null }) })} where till_id = ${tillId}`;
  }
  if (current.revision === revision && current.hash !== null && current.hash !== hash) {
    throw new PermanentError(
      `Revision ${revision} of till ${tillId} came with body ${current.hash} before, now ${hash}.`,
    );
  }
  return current.revision;
}
