import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { startClaimLoop } from "./claim-loop.ts";

const log = createLogger({ name: "test", level: "silent" });

/**
 * Starts a claim loop whose items are numbers in memory. Processing a number takes `workMs` milliseconds, and fails if
 * the number is negative.
 */
function startLoop({ concurrency = 2, pollMs = 60_000, workMs = 5 } = {}) {
  const state = {
    due: [] as number[],
    nextDueAtMs: undefined as number | undefined,
    done: [] as number[],
    active: 0,
    maxActive: 0,
    claims: 0,
    isUnavailable: false,
  };
  const loop = startClaimLoop<number>({
    name: "numbers",
    log,
    concurrency,
    pollMs,
    async claim(limit) {
      state.claims += 1;
      if (state.isUnavailable) throw new Error("unavailable");
      const isDue = state.nextDueAtMs !== undefined && performance.now() >= state.nextDueAtMs;
      if (isDue) state.nextDueAtMs = undefined;
      return isDue ? [100] : state.due.splice(0, limit);
    },
    async findNextDueMs() {
      return state.nextDueAtMs === undefined ? undefined : state.nextDueAtMs - performance.now();
    },
    async processItem(number) {
      state.active += 1;
      state.maxActive = Math.max(state.maxActive, state.active);
      await sleep(workMs);
      state.active -= 1;
      if (number < 0) throw new Error("no such number");
      state.done.push(number);
    },
  });
  return { ...loop, state };
}

it("processes all due items after a poll, up to its concurrency at a time", async () => {
  const { poll, close, state } = startLoop();
  await eventually("the first claim", () => state.claims === 1);
  state.due = [1, 2, 3, 4, 5, 6, 7];
  poll();
  await eventually("all items", () => state.done.length === 7);
  expect(state.maxActive).toBe(2);
  await close();
});

it("claims once for many polls of one event loop iteration", async () => {
  const { poll, close, state } = startLoop();
  await eventually("the first claim", () => state.claims === 1);
  for (let count = 0; count < 100; count += 1) poll();
  await sleep(20);
  expect(state.claims).toBe(2);
  await close();
});

it("claims an item when it becomes due, and not before", async () => {
  const { poll, close, state } = startLoop();
  await eventually("the first claim", () => state.claims === 1);
  const dueAtMs = performance.now() + 300;
  state.nextDueAtMs = dueAtMs;
  poll();
  await eventually("the item", () => state.done.length === 1);
  expect(performance.now()).toBeGreaterThanOrEqual(dueAtMs);
  expect(state.claims).toBeLessThanOrEqual(4);
  await close();
});

it("finds due items without a poll", async () => {
  const { close, state } = startLoop({ pollMs: 20 });
  await eventually("the first claim", () => state.claims >= 1);
  state.due = [1];
  await eventually("the item", () => state.done.length === 1);
  await close();
});

it("continues after a failed claim and a failed item", async () => {
  const { poll, close, state } = startLoop();
  state.isUnavailable = true;
  poll();
  await eventually("a failure", () => state.claims >= 1);
  state.isUnavailable = false;
  state.due = [-1, 1, 2];
  await eventually("the other items", () => state.done.length === 2);
  await close();
});

it("pauses when items keep failing", async () => {
  const { poll, close, state } = startLoop({ concurrency: 1 });
  const failing = setInterval(() => state.due.length === 0 && state.due.push(-1), 1);
  poll();
  await sleep(900);
  expect(state.claims).toBeLessThan(5);
  clearInterval(failing);
  await close();
});

it("finishes active items when it is closed, and claims no more", async () => {
  const { poll, close, state } = startLoop({ workMs: 50 });
  state.due = [1, 2, 3, 4];
  poll();
  await eventually("active items", () => state.active === 2);
  await close();
  expect(state.done).toEqual([1, 2]);
  poll();
  await sleep(80);
  expect(state.due).toEqual([3, 4]);
});

it("claims nothing and polls less often while there are no items", async () => {
  let claims = 0;
  let searches = 0;
  let itemCount = 0;
  const { poll, close } = startClaimLoop<number>({
    ...{ name: "numbers", log, concurrency: 2, pollMs: 20, idlePollMs: 60_000 },
    async hasItems() {
      searches += 1;
      return itemCount > 0;
    },
    async claim() {
      claims += 1;
      return [];
    },
    async processItem() {},
  });
  await sleep(200);
  expect({ searches, claims }).toEqual({ searches: 1, claims: 0 });
  itemCount = 1;
  poll();
  // An item that is not due, or that another process holds, is searched for at the shorter interval.
  await eventually("several claims", () => claims >= 3);
  await close();
});
