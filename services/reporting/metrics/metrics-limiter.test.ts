import { setTimeout } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, it } from "vitest";
import { createMetricsLimiter } from "./metrics-limiter.ts";

const { signal } = new AbortController();
setFlagsFromString("--expose-gc");
/** Collects signals to which nothing refers, as happens in a busy process. */
const collectGarbage = runInNewContext("gc") as () => void;

const forever = () => new Promise<never>(() => {});

it("rejects a location that has too many queries, and no other", async () => {
  const limiter = createMetricsLimiter(4);
  const running = Array.from({ length: 18 }, () => limiter.run(forever, { senderId: "busy", signal }));
  for (const query of running) query.catch(() => {});
  await expect(limiter.run(async () => 1, { senderId: "busy", signal })).rejects.toMatchObject({
    ...{ code: "rate_limited", limit: { name: "concurrent_metrics", maximum: 2 } },
  });
  expect(await limiter.run(async () => 1, { senderId: "other", signal })).toBe(1);
  expect(limiter.countRejected()).toBe(1);
});

it("rejects queries that wait for two seconds because of other locations", async () => {
  const limiter = createMetricsLimiter(2);
  for (const senderId of ["one", "two"]) void limiter.run(forever, { senderId, signal });
  const started = performance.now();
  const waiting = limiter.run(async () => 1, { senderId: "third", signal });
  waiting.catch(() => {});
  await setTimeout(50);
  collectGarbage();
  await expect(waiting).rejects.toMatchObject({ code: "overloaded" });
  expect(performance.now() - started).toBeGreaterThan(1_900);
});

it("starts the waiting query of another location before further queries of the same one", async () => {
  const limiter = createMetricsLimiter(1);
  const started: string[] = [];
  const run = (senderId: string) => limiter.run(async () => void started.push(senderId), { senderId, signal });
  await Promise.all([run("one"), run("one"), run("one"), run("two")]);
  expect(started).toEqual(["one", "one", "two", "one"]);
});

it("stops waiting when the client disconnects, and runs the next query", async () => {
  const limiter = createMetricsLimiter(1);
  let end = () => {};
  const first = limiter.run(() => new Promise<void>((resolve) => (end = resolve)), { senderId: "one", signal });
  const client = new AbortController();
  const waiting = limiter.run(async () => 1, { senderId: "two", signal: client.signal });
  const last = limiter.run(async () => 2, { senderId: "three", signal });
  client.abort();
  await expect(waiting).rejects.toMatchObject({ code: "overloaded" });
  end();
  await first;
  expect(await last).toBe(2);
});
