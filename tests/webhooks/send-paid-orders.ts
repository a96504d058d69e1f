import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createLiveOrderInput } from "../contract/live-order-input.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** Has so many orders paid, some at a time, at this pace, as points of sale in the field do; gives their ids. */
export async function sendPaidOrders(
  shop: TestLocation,
  { orders, atATime, perSecond }: { orders: number; atATime: number; perSecond: number },
): Promise<string[]> {
  const started = Date.now();
  const ids: string[] = [];
  for (let paid = 0; paid < orders; paid += atATime) {
    const batch = Array.from({ length: Math.min(atATime, orders - paid) }, createPaidOrder);
    await eventually("the orders to be taken", async () => {
      const answer = await shop.request("POST", "/v1/orders-live/", { body: batch }).catch(() => undefined);
      return answer?.status === 200;
    });
    ids.push(...batch.map(({ id }) => id));
    await sleep(Math.max(0, started + (ids.length / perSecond) * 1_000 - Date.now()));
  }
  return ids;
}

function createPaidOrder() {
  const order = createLiveOrderInput();
  const paidAt = "2026-05-29T10:31:12.000Z";
  const data = { ...order.data, isPaid: true, paidAt, modifiedAt: paidAt, leftToPay: 0 };
  return { ...order, revisionHash: randomUUID(), data };
}
