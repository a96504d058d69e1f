import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, expect, it } from "vitest";
import { changed, makeOrder } from "../testing/make-order.ts";
import { posKey, startOrderLive, type TestOrderLive } from "../testing/start-order-live.ts";

let orderLive: TestOrderLive;
beforeAll(async () => {
  orderLive = await startOrderLive();
});
afterAll(() => orderLive.remove());

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Megabytes that are in use once what is not has been let go of. */
async function inUse(): Promise<number> {
  collectGarbage();
  await new Promise((resolve) => setTimeout(resolve, 50));
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1024 / 1024;
}

it("nothing is kept of what was streamed, nor of readers that are gone", async () => {
  const { principal } = posKey();
  const gone = new AbortController();
  let received = 0;
  const read = async () => {
    const answer = await orderLive.ask("GET", "/v1/orders-live/stream", { principal });
    const reader = answer.body?.getReader();
    gone.signal.addEventListener("abort", () => void reader?.cancel());
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      received += Buffer.from(part.value).toString().split("event: order").length - 1;
    }
  };
  let order = makeOrder();
  let sent = 0;
  async function send(count: number): Promise<void> {
    for (const last = sent + count; sent < last; sent += 1) {
      order = changed(order, { leftToPay: sent });
      await orderLive.upsert(principal, order);
    }
  }

  await send(150);
  const before = await inUse();
  const shownAtOnce = 1;
  const readers = Array.from({ length: 20 }, read);
  await eventually("the readers to be there", () => received === 20 * shownAtOnce);
  await send(350);
  await eventually("the readers to have everything", () => received === 20 * (shownAtOnce + 350));
  expect((await inUse()) - before).toBeLessThan(8);
  gone.abort();
  await Promise.all(readers);
  expect((await inUse()) - before).toBeLessThan(6);
}, 120_000);
