import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { createLogger } from "../observability/logger.ts";
import { eventually } from "../testing/eventually.ts";
import { startClaimLoop } from "./claim-loop.ts";

const log = createLogger({ name: "test", level: "silent" });

/** A loop over numbers in memory, each of which takes a few milliseconds. */
function startLoop({ concurrency = 2, pollMs = 60_000, workMs = 5 } = {}) {
  const state = { due: [] as number[], done: [] as number[], active: 0, maxActive: 0, claims: 0, isAway: false };
  const loop = startClaimLoop<number>({
    name: "numbers",
    log,
    concurrency,
    pollMs,
    async claim(limit) {
      state.claims += 1;
      if (state.isAway) throw new Error("away");
      return state.due.splice(0, limit);
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

it("works on all that is due when it is woken, so much at a time", async () => {
  const { wake, close, state } = startLoop();
  await eventually("the first claim", () => state.claims === 1);
  state.due = [1, 2, 3, 4, 5, 6, 7];
  wake();
  await eventually("all", () => state.done.length === 7);
  expect(state.maxActive).toBe(2);
  await close();
});

it("claims once for all that wakes it in one turn, and again for what wakes it while it claims", async () => {
  const { wake, close, state } = startLoop();
  await eventually("the first claim", () => state.claims === 1);
  for (let time = 0; time < 100; time += 1) wake();
  await sleep(20);
  expect(state.claims).toBe(2);
  await close();
});

it("finds what no one woke it for", async () => {
  const { close, state } = startLoop({ pollMs: 20 });
  await eventually("the first claim", () => state.claims >= 1);
  state.due = [1];
  await eventually("the work", () => state.done.length === 1);
  await close();
});

it("goes on after a claim and after work that failed", async () => {
  const { wake, close, state } = startLoop();
  state.isAway = true;
  wake();
  await eventually("a failure", () => state.claims >= 1);
  state.isAway = false;
  state.due = [-1, 1, 2];
  await eventually("the others", () => state.done.length === 2);
  await close();
});

it("rests when the same work fails again and again", async () => {
  const { wake, close, state } = startLoop({ concurrency: 1 });
  const failing = setInterval(() => state.due.length === 0 && state.due.push(-1), 1);
  wake();
  await sleep(900);
  expect(state.claims).toBeLessThan(5);
  clearInterval(failing);
  await close();
});

it("finishes what is under way when it is closed, and claims nothing more", async () => {
  const { wake, close, state } = startLoop({ workMs: 50 });
  state.due = [1, 2, 3, 4];
  wake();
  await eventually("work under way", () => state.active === 2);
  await close();
  expect(state.done).toEqual([1, 2]);
  wake();
  await sleep(80);
  expect(state.due).toEqual([3, 4]);
});
