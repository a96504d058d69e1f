import { expect, it } from "vitest";
import { createToolCallLimiter } from "./tool-call-limiter.ts";

const limits = { concurrentCalls: 3, concurrentCallsPerLocation: 2, waitingCalls: 3, waitingCallsPerLocation: 2 };

it("tool calls run up to a limit, locations take turns, and too many waiting calls are rejected", async () => {
  const limiter = createToolCallLimiter(limits);
  const { signal } = new AbortController();
  const started: string[] = [];
  const ends: (() => void)[] = [];
  const run = (senderId: string) =>
    limiter.run(
      () => {
        started.push(senderId);
        return new Promise<void>((resolve) => ends.push(resolve));
      },
      { senderId, signal },
    );
  const calls = ["a", "a", "a", "a"].map(run);
  await expect(run("a")).rejects.toMatchObject({ code: "rate_limited", headers: { "retry-after": "2" } });
  calls.push(run("b"), run("b"));
  await expect(run("c")).rejects.toMatchObject({ code: "overloaded" });
  expect(started).toEqual(["a", "a", "b"]);
  ends.shift()?.();
  await expect.poll(() => started).toEqual(["a", "a", "b", "b"]);
  while (ends.length > 0) {
    ends.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
  await Promise.all(calls);
  expect(started).toEqual(["a", "a", "b", "b", "a", "a"]);
});

it("a call that waits gives up its place when its request ends", async () => {
  const limiter = createToolCallLimiter({ ...limits, concurrentCallsPerLocation: 1, waitingCallsPerLocation: 1 });
  const { signal } = new AbortController();
  let end = () => {};
  const running = limiter.run(() => new Promise<void>((resolve) => (end = resolve)), { senderId: "a", signal });
  const abort = new AbortController();
  const waiting = limiter.run(async () => expect.unreachable(), { senderId: "a", signal: abort.signal });
  abort.abort(new Error("ended"));
  await expect(waiting).rejects.toThrow("ended");
  const next = limiter.run(async () => "answer", { senderId: "a", signal });
  end();
  await running;
  expect(await next).toBe("answer");
});
