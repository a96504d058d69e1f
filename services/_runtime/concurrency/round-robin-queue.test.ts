import { describe, expect, it } from "vitest";
import { createRoundRobinQueue } from "./round-robin-queue.ts";

/** Adds tasks to a queue. Each task is named after its key and number, and runs until the test ends it. */
function createControlledQueue(limits: { maxActive: number; maxActivePerKey: number }) {
  const queue = createRoundRobinQueue(limits);
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const counts = new Map<string, number>();
  return {
    queue,
    started,
    add(...keys: string[]) {
      for (const key of keys) {
        const number = (counts.get(key) ?? 0) + 1;
        counts.set(key, number);
        const name = `${key}${number}`;
        void queue.run(() => {
          started.push(name);
          return new Promise<void>((resolve) => ends.set(name, resolve));
        }, key);
      }
    },
    /** Ends the active tasks one after the other, in the sequence in which they started, until none is left. */
    async endAll() {
      await new Promise(setImmediate);
      for (const name of started) {
        ends.get(name)?.();
        await new Promise(setImmediate);
      }
    },
  };
}

describe("keys", () => {
  it("take turns, so that a key with one task does not wait for all tasks of the others", async () => {
    const { started, add, endAll } = createControlledQueue({ maxActive: 1, maxActivePerKey: 1 });
    add("a", "a", "a", "a", "b", "b", "b", "c");
    await endAll();
    expect(started).toEqual(["a1", "b1", "c1", "a2", "b2", "a3", "b3", "a4"]);
  });

  it("take turns when each can have several active tasks", async () => {
    const { started, add, endAll } = createControlledQueue({ maxActive: 4, maxActivePerKey: 3 });
    add("a", "a", "a", "a", "a", "a", "b", "c", "b");
    await endAll();
    // One of four tasks can be of another key, although key `a` has added six tasks first.
    expect(started.slice(0, 4)).toEqual(["a1", "a2", "a3", "b1"]);
    expect(started).toHaveLength(9);
    expect(started.indexOf("c1")).toBeLessThan(started.indexOf("a5"));
  });

  it("with a failed task release its capacity", async () => {
    const queue = createRoundRobinQueue({ maxActive: 1, maxActivePerKey: 1 });
    await expect(queue.run(() => Promise.reject(new Error("failed")), "a")).rejects.toThrow("failed");
    expect(await queue.run(async () => "next", "a")).toBe("next");
  });
});

it("counts tasks that wait for capacity, and tasks that wait for their own key", async () => {
  const { queue, add, endAll } = createControlledQueue({ maxActive: 2, maxActivePerKey: 1 });
  add("a", "a", "a", "b", "b", "c", "d");
  expect(queue.countWaiting()).toEqual({ ready: 2, behindOwnKey: 3 });
  await endAll();
  expect(queue.countWaiting()).toEqual({ ready: 0, behindOwnKey: 0 });
});

describe("a permit", () => {
  it("that is released before it is granted leaves the queue, and later ones are granted in turn", async () => {
    const queue = createRoundRobinQueue({ maxActive: 1, maxActivePerKey: 1 });
    const [first, canceled, next, other] = ["a", "a", "a", "b"].map((key) => queue.requestPermit(key));
    expect([first?.isGranted, next?.isGranted, queue.getWaitingCount("a"), queue.getWaitingCount()]).toEqual([
      ...[true, false],
      ...[2, 3],
    ]);
    canceled?.release();
    canceled?.release();
    expect([queue.getWaitingCount("a"), queue.getWaitingCount()]).toEqual([1, 2]);
    first?.release();
    first?.release();
    await other?.granted;
    expect(next?.isGranted).toBe(false);
    other?.release();
    await next?.granted;
    next?.release();
    expect([canceled?.isGranted, queue.getWaitingCount()]).toEqual([false, 0]);
  });
});

it("starts the next task of a key after the pause of the last one, and tasks of other keys at once", async () => {
  const queue = createRoundRobinQueue({ maxActive: 1, maxActivePerKey: 1 });
  const [first, next, other] = ["a", "a", "b"].map((key) => queue.requestPermit(key));
  await first?.granted;
  first?.release(100);
  const releasedAtMs = performance.now();
  await other?.granted;
  other?.release();
  expect(next?.isGranted).toBe(false);
  await next?.granted;
  expect(performance.now() - releasedAtMs).toBeGreaterThanOrEqual(99);
});
