import { advisoryLockKey, type Transaction } from "@pragma/runtime/postgres";

/** Lets one transaction at a time write a location's reports and orders. */
export async function lockLocation(tx: Transaction, locationId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(${advisoryLockKey(`location ${locationId}`)}::bigint)`;
}

interface TakenTill {
  tillId: string;
  locationId: string;
  revision: number;
  pushedAt: string;
}

/** Locks the till's row, notes this revision if it is the highest yet, and tells which was the highest before (0: none). */
export async function takeTill(
  tx: Transaction,
  { tillId, locationId, revision, pushedAt }: TakenTill,
): Promise<number> {
  const [known] = await tx<{ revision: number }[]>`select revision from tills where till_id = ${tillId} for update`;
  if (!known) {
    await tx`insert into tills ${tx({ till_id: tillId, location_id: locationId, revision, pushed_at: pushedAt })}`;
    return 0;
  }
  if (known.revision < revision) await tx`update tills set revision = ${revision} where till_id = ${tillId}`;
  return known.revision;
}
