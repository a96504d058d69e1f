import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changeLiveOrderInput, createLiveOrderInput } from "../testing/order-fixtures.ts";
import { createPosPrincipal, startTestOrderLive, type TestOrderLive } from "../testing/start-test-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startTestOrderLive();
});
afterAll(() => orderLive.remove());

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Megabytes that are in use once what is not has been let go of. */
async function usedMegabytes(): Promise<number> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 50));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

it("nothing is kept of what was streamed, nor of readers that are gone", async () => {
  const { principal } = createPosPrincipal();
  const gone = new AbortController();
  let received = 0;
  const read = async () => {
    const answer = await orderLive.request("GET", "/v1/orders-live/stream", { principal });
    const reader = answer.body?.getReader();
    gone.signal.addEventListener("abort", () => void reader?.cancel());
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      received += Buffer.from(part.value).toString().split("event: order").length - 1;
    }
  };
  let order = createLiveOrderInput();
  let sent = 0;
  async function send(count: number): Promise<void> {
    for (const last = sent + count; sent < last; sent += 1) {
      order = changeLiveOrderInput(order, { leftToPay: sent });
      await orderLive.upsertOrders(principal, order);
    }
  }

  await send(150);
  const before = await usedMegabytes();
  const shownAtOnce = 1;
  const readers = Array.from({ length: 20 }, read);
  await eventually("the readers to be there", () => received === 20 * shownAtOnce);
  await send(350);
  await eventually("the readers to have everything", () => received === 20 * (shownAtOnce + 350));
  expect((await usedMegabytes()) - before).toBeLessThan(8);
  gone.abort();
  await Promise.all(readers);
  expect((await usedMegabytes()) - before).toBeLessThan(6);
}, 120_000);
