import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createChangedTestLiveOrder, createTestLiveOrderInput } from "../testing/order-fixtures.ts";
import {
  buildTestPosPrincipalAndLocation,
  startTestOrderLiveService,
  type TestOrderLiveService,
} from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLiveService;
beforeAll(async () => {
  orderLive = await startTestOrderLiveService();
});
afterAll(() => orderLive.remove());

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Returns the memory in use after a garbage collection, in megabytes. */
async function measureUsedMegabytes(): Promise<number> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 50));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

it("streamed data and closed connections are not retained", async () => {
  const { principal } = buildTestPosPrincipalAndLocation();
  const disconnect = new AbortController();
  let receivedCount = 0;
  const readStream = async () => {
    const response = await orderLive.request("GET", "/v1/orders-live/stream", { principal });
    const reader = response.body?.getReader();
    disconnect.signal.addEventListener("abort", () => void reader?.cancel());
    for (let chunk = await reader?.read(); chunk && !chunk.done; chunk = await reader?.read()) {
      receivedCount += Buffer.from(chunk.value).toString().split("event: order").length - 1;
    }
  };
  let order = createTestLiveOrderInput();
  let sentCount = 0;
  async function sendChanges(count: number): Promise<void> {
    for (const endCount = sentCount + count; sentCount < endCount; sentCount += 1) {
      order = createChangedTestLiveOrder(order, { leftToPay: sentCount });
      await orderLive.upsertOrders(principal, order);
    }
  }

  await sendChanges(150);
  const before = await measureUsedMegabytes();
  const initialOrders = 1;
  const readers = Array.from({ length: 20 }, readStream);
  await eventually("the clients to receive the initial order", () => receivedCount === 20 * initialOrders);
  await sendChanges(350);
  await eventually("the clients to receive all changes", () => receivedCount === 20 * (initialOrders + 350));
  expect((await measureUsedMegabytes()) - before).toBeLessThan(8);
  disconnect.abort();
  await Promise.all(readers);
  expect((await measureUsedMegabytes()) - before).toBeLessThan(6);
}, 240_000);
