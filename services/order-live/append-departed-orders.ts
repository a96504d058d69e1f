import type { OrderLeftEvent, OrderLeftReason } from "@pragma/contracts/order-live";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { listedFilterFields, type OrderState } from "./order-state.ts";
import { appendRevisions, type LiveOrderRevision } from "./queries/streams.ts";

interface DepartedOrders {
  locationId: string;
  lastPosition: number;
  orders: Map<string, OrderState>;
  reason: OrderLeftReason;
}

/** Appends the departure of these orders to the location's stream and returns the stream's last position. */
export async function appendDepartedOrders(
  tx: SqlTransaction,
  { locationId, lastPosition, orders, reason }: DepartedOrders,
): Promise<number> {
  const revisions: LiveOrderRevision[] = [];
  for (const [id, order] of orders) {
    const before = listedFilterFields(order);
    if (!before) continue;
    const left: OrderLeftEvent = { id, locationId, tillId: before.tillId, reason };
    const position = lastPosition + 1 + revisions.length;
    revisions.push({ position, orderId: id, before, after: null, body: JSON.stringify(left) });
  }
  await appendRevisions(tx, locationId, revisions);
  return lastPosition + revisions.length;
}
