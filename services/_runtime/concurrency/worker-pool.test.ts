import { afterAll, beforeAll, expect, it } from "vitest";
import { createWorkerThreadPool, WorkerOutOfMemoryError, type WorkerThreadPool } from "./worker-pool.ts";

let pool: WorkerThreadPool<number, number>;
beforeAll(() => {
  pool = createWorkerThreadPool(import.meta.url, "../testing/memory-hungry-task", { threads: 2, heapMegabytes: 64 });
});
afterAll(() => pool?.close());

it("a task that exceeds its thread's heap fails without affecting other tasks", async () => {
  const million = 1_000_000;
  const failing = expect(pool.run(100 * million)).rejects.toBeInstanceOf(WorkerOutOfMemoryError);
  const others = Array.from({ length: 20 }, () => pool.run(million));
  expect(await Promise.all(others)).toEqual(others.map(() => 1_000));
  await failing;
  expect(await pool.run(million)).toBe(1_000);
});

it("threads of bulk work leave the processor to the other threads", async () => {
  const readNiceness = async (bulk?: "export" | "large") => {
    const bulkPool = createWorkerThreadPool<null, number>(import.meta.url, "../testing/thread-priority-task", {
      ...{ threads: 1, heapMegabytes: 64, ...(bulk && { bulk }) },
    });
    return bulkPool.run(null).finally(bulkPool.close);
  };
  const others = await readNiceness();
  expect(await readNiceness("export")).toBe(others + 8);
  expect(await readNiceness("large")).toBe(others + 15);
});
