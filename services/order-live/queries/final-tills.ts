import type { Transaction } from "@pragma/runtime/postgres";

/** Notes that a till's report is final; gives whether that is news. */
export async function noteFinalTill(
  tx: Transaction,
  { locationId, tillId }: { locationId: string; tillId: string },
): Promise<boolean> {
  const { count } = await tx`
    insert into final_tills (location_id, till_id) values (${locationId}, ${tillId}) on conflict do nothing`;
  return count > 0;
}

/** Those of these tills whose report is final. */
export async function findFinalTills(
  tx: Transaction,
  { locationId, tillIds }: { locationId: string; tillIds: string[] },
): Promise<Set<string>> {
  const rows = await tx<{ id: string }[]>`
    select till_id as id from final_tills where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])`;
  return new Set(rows.map(({ id }) => id));
}
