import type { Database, SqlTransaction } from "@pragma/runtime/database/postgres";
import { publishEvent } from "@pragma/runtime/messaging/outbox";
import type { PeriodicTask } from "@pragma/runtime/service/define-service";
import type { ReportingContext } from "./context.ts";
import { findOrderIdsOfTill } from "./queries/orders.ts";

/** Which orders lose what says who ordered: some, or all of the tills that were pushed before a day. */
export type ErasureRequest = { locationId: string } & ({ orderIds: string[] } | { before: string });

const batchSize = 100;

/**
 * Has personal data erased wherever it is kept: bodies of tills, reports and orders that are made of them, live orders,
 * messages. It is done by events, one for each till, and survives whatever dies meanwhile.
 *
 * @returns how many tills it concerns.
 */
export async function requestErasure(db: Database, erasure: ErasureRequest): Promise<{ tills: number }> {
  if ("before" in erasure) return { tills: await eraseTillsPushedBefore(db, erasure) };
  const { locationId, orderIds } = erasure;
  return db.transaction(async (tx) => {
    const tills = await listTillsOfOrders(tx, { locationId, orderIds });
    for (const { tillId, ids } of tills)
      await publishOrdersErased(tx, { locationId, tillId, orderIds: ids, isWholeTill: false });
    const found = new Set(tills.flatMap(({ ids }) => ids));
    // Those that are still live, or that a till has yet to bring.
    const ordersWithoutTill = orderIds.filter((id) => !found.has(id));
    if (ordersWithoutTill.length > 0)
      await publishOrdersErased(tx, { locationId, tillId: null, orderIds: ordersWithoutTill, isWholeTill: false });
    return { tills: tills.length };
  });
}

/** The same for all tills that were pushed before a time, of one location or of all; gives how many. */
export async function eraseTillsPushedBefore(
  db: Database,
  { locationId, before, traceparent }: { locationId?: string; before: string; traceparent?: string | undefined },
): Promise<number> {
  let erased = 0;
  for (let batchLength = batchSize; batchLength === batchSize; erased += batchLength) {
    batchLength = await db.transaction(async (tx) => {
      const tills = await lockTillsToErase(tx, { locationId, before, limit: batchSize });
      for (const { tillId, locationId } of tills) {
        await publishOrdersErased(
          tx,
          { locationId, tillId, orderIds: await findOrderIdsOfTill(tx, tillId), isWholeTill: true },
          traceparent,
        );
      }
      await markTillsErased(
        tx,
        tills.map(({ tillId }) => tillId),
      );
      return tills.length;
    });
  }
  return erased;
}

interface ErasedOrders {
  locationId: string;
  tillId: string | null;
  orderIds: string[];
  isWholeTill: boolean;
}

async function publishOrdersErased(tx: SqlTransaction, data: ErasedOrders, traceparent?: string): Promise<void> {
  await publishEvent(tx, "orders.erased", { subject: data.tillId ?? data.locationId, data, traceparent });
}

/** The tills that hold some of these orders, each with those that it holds. */
async function listTillsOfOrders(
  tx: SqlTransaction,
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
async function lockTillsToErase(
  tx: SqlTransaction,
  { locationId, before, limit }: { locationId: string | undefined; before: string; limit: number },
): Promise<{ tillId: string; locationId: string }[]> {
  return tx<{ tillId: string; locationId: string }[]>`
    select till_id, location_id from tills
    where pushed_at < ${before} and erased_at is null
      ${locationId === undefined ? tx`` : tx`and location_id = ${locationId}`}
    order by pushed_at, till_id limit ${limit} for update`;
}

async function markTillsErased(tx: SqlTransaction, tillIds: string[]): Promise<void> {
  await tx`update tills set erased_at = now() where till_id = any(${tillIds}::uuid[])`;
}

const dayMs = 24 * 3_600_000;

/** Has the personal data erased of tills that were pushed longer ago than it may be kept. */
export const eraseExpiredPersonalData: PeriodicTask<Pick<ReportingContext, "db" | "log" | "config">> = {
  name: "erase personal data",
  intervalSeconds: 3_600,
  async run({ db, log, config: { PERSONAL_DATA_KEPT_DAYS: days } }, context) {
    if (days === undefined) return;
    const before = new Date(Date.now() - days * dayMs).toISOString();
    const tills = await eraseTillsPushedBefore(db, { before, traceparent: context?.traceparent });
    if (tills > 0) log.info({ tills }, "personal data of old tills is erased");
  },
};
