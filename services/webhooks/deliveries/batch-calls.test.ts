import { setTimeout as sleep } from "node:timers/promises";
import { TransientError } from "@pragma/runtime/retries/transient-error";
import { describe, expect, it } from "vitest";
import { batchCalls } from "./batch-calls.ts";

describe("batchCalls", () => {
  it("batches items of the same event loop iteration, and items that arrive while a batch is in progress", async () => {
    const calls: number[][] = [];
    const double = batchCalls(
      async (items: number[]) => {
        calls.push(items);
        await sleep(10);
        return items.map((item) => item * 2);
      },
      { maxBatchSize: 10, maxConcurrentBatches: 1 },
    );
    const first = [double(1), double(2)];
    await sleep(2);
    const second = [double(3), double(4), double(5)];
    expect(await Promise.all([...first, ...second])).toEqual([2, 4, 6, 8, 10]);
    expect(calls).toEqual([
      [1, 2],
      [3, 4, 5],
    ]);
  });

  it("limits batches to the maximum size", async () => {
    const sizes: number[] = [];
    const call = batchCalls(
      async (items: number[]) => {
        sizes.push(items.length);
        return items;
      },
      { maxBatchSize: 4, maxConcurrentBatches: 2 },
    );
    await Promise.all(Array.from({ length: 10 }, (_, item) => call(item)));
    expect(sizes).toEqual([4, 4, 2]);
  });

  it("rejects only the item that fails", async () => {
    const call = batchCalls(
      async (items: string[]) => {
        if (items.includes("bad")) throw new Error("invalid item");
        return items;
      },
      { maxBatchSize: 2, maxConcurrentBatches: 1 },
    );
    const results = await Promise.allSettled([call("good"), call("bad"), call("other")]);
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  });

  it("rejects all items of a batch when the error is transient", async () => {
    let calls = 0;
    const call = batchCalls(
      async () => {
        calls += 1;
        throw new TransientError("unavailable");
      },
      { maxBatchSize: 10, maxConcurrentBatches: 1 },
    );
    const results = await Promise.allSettled([call("one"), call("other")]);
    expect(results.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    expect(calls).toBe(1);
  });

  it("collects items for the batch delay", async () => {
    const calls: number[][] = [];
    const double = batchCalls(
      async (items: number[]) => {
        calls.push(items);
        return items.map((item) => item * 2);
      },
      { maxBatchSize: 10, maxConcurrentBatches: 1, batchDelayMs: 30 },
    );
    const first = double(1);
    await sleep(5);
    expect(await Promise.all([first, double(2)])).toEqual([2, 4]);
    expect(calls).toEqual([[1, 2]]);
  });
});
