import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestLiveOrderInput } from "../contract/order-and-till-inputs.ts";
import type { TestLocation } from "../harness/test-location.ts";

/** Sends paid orders in batches at a fixed rate. Retries as real points of sale do. Returns the ids of the orders. */
export async function sendTestPaidLiveOrders(
  testLocation: TestLocation,
  { orders, batchSize, perSecond }: { orders: number; batchSize: number; perSecond: number },
): Promise<string[]> {
  const started = Date.now();
  const ids: string[] = [];
  for (let paid = 0; paid < orders; paid += batchSize) {
    const batch = Array.from({ length: Math.min(batchSize, orders - paid) }, createTestPaidLiveOrder);
    await eventually("the orders to be accepted", async () => {
      const response = await testLocation.request("POST", "/v1/orders-live/", { body: batch }).catch(() => undefined);
      return response?.status === 200;
    });
    ids.push(...batch.map(({ id }) => id));
    await sleep(Math.max(0, started + (ids.length / perSecond) * 1_000 - Date.now()));
  }
  return ids;
}

/** Returns a new live order that is paid. */
export function createTestPaidLiveOrder() {
  const order = createTestLiveOrderInput();
  const paidAt = "2026-05-29T10:31:12.000Z";
  const data = { ...order.data, isPaid: true, paidAt, modifiedAt: paidAt, leftToPay: 0 };
  return { ...order, revisionHash: randomUUID(), data };
}
