import { type EventEnvelope, isOrderEventType } from "@pragma/contracts/events";
import { redactPersonalData } from "@pragma/contracts/personal-data";
import { z } from "zod";
import type { SqlClient, SqlTransaction } from "../database/postgres.ts";

export interface LocationOrderIds {
  locationId: string;
  orderIds: readonly string[];
}

/** Records erasures for as long as ids of handled events, because events from before the erasure can arrive later. */
export async function recordErasedOrders(
  tx: SqlTransaction,
  { locationId, orderIds }: LocationOrderIds,
): Promise<void> {
  await tx`
    insert into erased_orders (location_id, order_id)
    select distinct ${locationId}::uuid, id from unnest(${orderIds as string[]}::uuid[]) as input (id)
    on conflict (location_id, order_id) do update set erased_at = excluded.erased_at, repeated_at = null`;
}

export async function findErasedOrderIds(
  sql: SqlClient | SqlTransaction,
  { locationId, orderIds }: LocationOrderIds,
): Promise<Set<string>> {
  const rows = await sql<{ orderId: string }[]>`
    select order_id from erased_orders
    where location_id = ${locationId} and order_id = any(${orderIds as string[]}::uuid[])`;
  return new Set(rows.map(({ orderId }) => orderId));
}

export function redactPersonalDataInJson(text: string): string {
  return JSON.stringify(redactPersonalData(JSON.parse(text)));
}

const orderEventSchema = z.object({ subject: z.guid(), data: z.object({ locationId: z.guid() }) });

/** Returns the JSON text of an event, without personal data if the event is about an order that was erased. */
export async function redactEventIfOrderErased(sql: SqlClient, event: EventEnvelope, text: string): Promise<string> {
  const order = isOrderEventType(event.type) ? orderEventSchema.safeParse(event).data : undefined;
  if (!order) return text;
  const erased = await findErasedOrderIds(sql, { ...order.data, orderIds: [order.subject] });
  return erased.size > 0 ? redactPersonalDataInJson(text) : text;
}
