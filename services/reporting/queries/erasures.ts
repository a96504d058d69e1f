import type { Transaction } from "@pragma/runtime/postgres";

/** The tills that hold some of these orders, each with those that it holds. */
export async function listTillsOfOrders(
  tx: Transaction,
  { locationId, orderIds }: { locationId: string; orderIds: string[] },
): Promise<{ tillId: string; ids: string[] }[]> {
  return tx<{ tillId: string; ids: string[] }[]>`
    select till_id, array_agg(id) as ids from orders
    where location_id = ${locationId} and id = any(${orderIds}::uuid[]) group by till_id`;
}

/**
 * Tills that were pushed before a time and whose personal data was not erased; locked. Those that are being written are
 * waited for: nobody would ask for them again.
 */
export async function takeTillsToErase(
  tx: Transaction,
  { locationId, before, limit }: { locationId: string | undefined; before: string; limit: number },
): Promise<{ tillId: string; locationId: string }[]> {
  return tx<{ tillId: string; locationId: string }[]>`
    select till_id, location_id from tills
    where pushed_at < ${before} and erased_at is null
      ${locationId === undefined ? tx`` : tx`and location_id = ${locationId}`}
    order by pushed_at, till_id limit ${limit} for update`;
}

export async function markErased(tx: Transaction, tillIds: string[]): Promise<void> {
  await tx`update tills set erased_at = now() where till_id = any(${tillIds}::uuid[])`;
}
