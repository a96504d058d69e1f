import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { newLiveOrder } from "../contract/live-order.ts";
import type { Shop } from "../harness/shop.ts";

/** Has so many orders paid, some at a time, at this pace, as points of sale in the field do; gives their ids. */
export async function payOrders(
  shop: Shop,
  { orders, atATime, perSecond }: { orders: number; atATime: number; perSecond: number },
): Promise<string[]> {
  const started = Date.now();
  const ids: string[] = [];
  for (let paid = 0; paid < orders; paid += atATime) {
    const batch = Array.from({ length: Math.min(atATime, orders - paid) }, paidOrder);
    await eventually("the orders to be taken", async () => {
      const answer = await shop.ask("POST", "/v1/orders-live/", { body: batch }).catch(() => undefined);
      return answer?.status === 200;
    });
    ids.push(...batch.map(({ id }) => id));
    await sleep(Math.max(0, started + (ids.length / perSecond) * 1_000 - Date.now()));
  }
  return ids;
}

function paidOrder() {
  const order = newLiveOrder();
  const paidAt = "2026-05-29T10:31:12.000Z";
  const data = { ...order.data, isPaid: true, paidAt, modifiedAt: paidAt, leftToPay: 0 };
  return { ...order, revisionHash: randomUUID(), data };
}
