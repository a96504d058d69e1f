import type { EventData } from "@pragma/contracts/events";
import type { Transaction } from "@pragma/runtime/postgres";
import type { TillRow } from "./tills.ts";

/** What brought a revision about. */
export type RevisionReason = EventData<"till.pushed">["reason"];

/** Keeps what a till's revision is, and who brought it about. */
export async function insertVersion(
  tx: Transaction,
  { id, revision, format, hash, object_key, size }: TillRow,
  { reason, keyId, consumer }: { reason: RevisionReason; keyId: string; consumer: string },
): Promise<void> {
  const row = { till_id: id, revision, reason, format, hash, object_key, size, key_id: keyId, consumer };
  await tx`insert into till_versions ${tx(row)}`;
}

/** What brought the current revisions of these tills about, by till id. */
export async function findReasons(tx: Transaction, tillIds: string[]): Promise<Map<string, RevisionReason>> {
  const rows = await tx<{ till_id: string; reason: RevisionReason }[]>`
    select till_versions.till_id, till_versions.reason
    from till_versions join tills on tills.id = till_versions.till_id and tills.revision = till_versions.revision
    where tills.id = any(${tillIds}::uuid[])`;
  return new Map(rows.map(({ till_id, reason }) => [till_id, reason]));
}
