import type { Transaction } from "@pragma/runtime/postgres";

/** A text that holds an order: the live one, or (`position`) an entry of the log of changes. */
export interface Kept {
  orderId: string;
  position: number | null;
  body: string;
}

/** All that is kept of these orders, locked until the transaction ends. */
export async function listKept(
  tx: Transaction,
  { locationId, orderIds }: { locationId: string; orderIds: string[] },
): Promise<Kept[]> {
  const live = await tx<Kept[]>`
    select id as order_id, null as position, body from orders
    where location_id = ${locationId} and id = any(${orderIds}::uuid[]) and body is not null for update`;
  const logged = await tx<Kept[]>`
    select order_id, position, body from revisions
    where location_id = ${locationId} and order_id = any(${orderIds}::uuid[]) for update`;
  return [...live, ...logged];
}

/** Puts texts in the place of those that were kept. */
export async function putErased(
  tx: Transaction,
  locationId: string,
  texts: (Kept & { etag: string })[],
): Promise<void> {
  for (const { orderId, position, body, etag } of texts) {
    if (position === null) {
      await tx`update orders set body = ${body}, etag = ${etag} where location_id = ${locationId} and id = ${orderId}`;
    } else {
      await tx`update revisions set body = ${body} where location_id = ${locationId} and position = ${position}`;
    }
  }
}
