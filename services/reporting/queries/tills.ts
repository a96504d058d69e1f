import type { Sql, Transaction } from "@pragma/runtime/postgres";
import { PermanentError } from "@pragma/runtime/transient-error";

/** The highest revision of a till that was applied; 0 when none was. */
export async function findRevision(sql: Sql, tillId: string): Promise<number> {
  const [known] = await sql<{ revision: number }[]>`select revision from tills where till_id = ${tillId}`;
  return known?.revision ?? 0;
}

interface TakenTill {
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
export async function takeTill(
  tx: Transaction,
  { tillId, locationId, revision, pushedAt, object: { hash }, isErasure = false }: TakenTill,
): Promise<number> {
  const [known] = await tx<{ revision: number; hash: string | null }[]>`
    select revision, hash from tills where till_id = ${tillId} for update`;
  if (!known) {
    await tx`insert into tills ${tx({ tillId, locationId, revision, pushedAt, hash })}`;
    return 0;
  }
  if (known.revision < revision) {
    // Between the two there may have been a body with personal data, of which only a part was erased.
    const hasSkipped = revision > known.revision + 1;
    const isOther = (!isErasure || hasSkipped) && known.hash !== hash;
    await tx`update tills set ${tx({ revision, hash, ...(isOther && { erasedAt: null }) })} where till_id = ${tillId}`;
  }
  if (known.revision === revision && known.hash !== null && known.hash !== hash) {
    throw new PermanentError(
      `Revision ${revision} of till ${tillId} came with body ${known.hash} before, now ${hash}.`,
    );
  }
  return known.revision;
}
