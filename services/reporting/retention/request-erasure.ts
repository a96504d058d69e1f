import type { AuditDetails } from "@pragma/contracts/audit";
import type { CreateErasureRequest } from "@pragma/contracts/erasure";
import type { BusEventData } from "@pragma/contracts/events";
import { type Database, lockInTransaction, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { type AuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { findErasedOrderIds, recordErasedOrders } from "@pragma/runtime/messaging/erased-orders";
import { writeEventToOutbox } from "@pragma/runtime/messaging/outbox";
import { findOrderIdsOfTill } from "../documents/queries/orders.ts";
import type { TillKey } from "../documents/queries/tills.ts";
import { removeErasedTillFromBulkExports } from "../exports/bulk/queries/bulk-export-queries.ts";

const batchSize = 100;
const maxRecordedOrderIds = 100;

/**
 * Requests the erasure of personal data from all stored copies: bodies of tills, reports, orders, live orders and
 * messages: of the listed orders, or of all orders of tills pushed before a day. Publishes one `orders.erased` event for
 * each till, and one for the orders that no till contains. The events are stored in the outbox when the transaction
 * commits, so they are published even if the process crashes afterwards.
 *
 * @returns the number of affected tills, and the listed orders that no till contains. The tables keep the ids of erased
 * orders, so these are not among them.
 */
export async function publishErasureEvents(
  db: Database,
  { locationId, before, orderIds: listedIds = [] }: CreateErasureRequest,
  audit: AuditSource,
): Promise<{ tills: number; orderIdsWithoutTill?: string[] }> {
  const recordErasure = (tx: SqlTransaction, details: AuditDetails) =>
    publishAuditEvent(tx, audit, {
      ...{ action: "personal_data.erased", locationId, target: { type: "location", id: locationId } },
      details,
    });
  if (before !== undefined) {
    await db.transaction((tx) => recordErasure(tx, { before }));
    return { tills: await requestTillDataErasureBefore(db, { locationId, before }) };
  }
  const orderIds = [...new Set(listedIds.map((id) => id.toLowerCase()))];
  return db.transaction(async (tx) => {
    // Waits for a till that is being stored. Tills that are stored later find the recorded ids.
    await lockInTransaction(tx, db, `location ${locationId}`);
    await recordErasedOrders(tx, { locationId, orderIds });
    const tills = await tx<{ tillId: string; ids: string[] }[]>`
      select till_id, array_agg(id) as ids from orders
      where location_id = ${locationId} and id = any(${orderIds}::uuid[]) group by till_id
      union all
      select till_id, array_agg(id) from packed_orders, unnest(ids) as id
      where location_id = ${locationId} and ids && ${orderIds}::uuid[] and id = any(${orderIds}::uuid[])
      group by till_id`;
    for (const { tillId, ids } of tills)
      await publishOrdersErased(tx, db, { locationId, tillId, orderIds: ids, isWholeTill: false });
    const idsInTills = new Set(tills.flatMap(({ ids }) => ids));
    // An order that no till contains can still be stored as a live order or in messages, so its data must be erased
    // too.
    const orderIdsWithoutTill = orderIds.filter((id) => !idsInTills.has(id));
    if (orderIdsWithoutTill.length > 0)
      await publishOrdersErased(tx, db, {
        locationId,
        tillId: null,
        orderIds: orderIdsWithoutTill,
        isWholeTill: false,
      });
    await recordErasure(tx, {
      ...{ tills: tills.length, orders: idsInTills.size, orderIds: [...idsInTills].slice(0, maxRecordedOrderIds) },
      orderIdsWithoutTill: orderIdsWithoutTill.slice(0, maxRecordedOrderIds),
    });
    return { tills: tills.length, orderIdsWithoutTill };
  });
}

/**
 * Requests the erasure of the personal data of all tills of a location that were pushed before a time. Returns the number
 * of affected tills.
 */
export async function requestTillDataErasureBefore(
  db: Database,
  { locationId, before, traceparent }: { locationId: string; before: string; traceparent?: string | undefined },
): Promise<number> {
  let tillCount = 0;
  for (let batchLength = batchSize; batchLength === batchSize; tillCount += batchLength) {
    batchLength = await db.transaction(async (tx) => {
      // Waits for tills that another transaction has locked, because an operator's request runs only once.
      const tills = await tx<{ tillId: string }[]>`
        select till_id from tills
        where location_id = ${locationId} and pushed_at < ${before} and erased_at is null
        order by pushed_at, till_id limit ${batchSize} for update`;
      const tillIds = tills.map(({ tillId }) => tillId);
      for (const tillId of tillIds) {
        const orderIds = await findOrderIdsOfTill(tx, { locationId, tillId });
        await publishOrdersErased(tx, db, { locationId, tillId, orderIds, isWholeTill: true }, traceparent);
      }
      await tx`
        update tills set erased_at = now() where location_id = ${locationId} and till_id = any(${tillIds}::uuid[])`;
      return tillIds.length;
    });
  }
  return tillCount;
}

/**
 * Requests the erasure of the orders of a till that were erased before the till was stored. The caller must hold the lock
 * of the location.
 */
export async function repeatErasureOfOrders(
  tx: SqlTransaction,
  db: Database,
  { locationId, tillId, orderIds }: TillKey & { orderIds: string[] },
  traceparent: string,
): Promise<void> {
  const erased = await findErasedOrderIds(tx, { locationId, orderIds });
  if (erased.size === 0) return;
  const orders = { locationId, tillId, orderIds: [...erased], isWholeTill: false };
  await publishOrdersErased(tx, db, orders, traceparent);
}

/** Publishes `orders.erased`, and removes the files of bulk exports that contain the till. */
async function publishOrdersErased(
  tx: SqlTransaction,
  db: Database,
  data: BusEventData<"orders.erased">,
  traceparent?: string,
): Promise<void> {
  const { locationId, tillId } = data;
  if (tillId !== null) await removeErasedTillFromBulkExports(tx, db, { locationId, tillId });
  await writeEventToOutbox(tx, "orders.erased", { subject: data.tillId ?? data.locationId, data, traceparent });
}
