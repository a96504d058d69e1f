import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runTaskWithProgress } from "./terminal.mjs";

let printed: string[];
beforeEach(() => {
  vi.useFakeTimers();
  printed = [];
  vi.spyOn(process.stdout, "write").mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const fakeTask = (ms: number) => () => new Promise<string>((resolve) => void setTimeout(resolve, ms, "done"));

it("prints nothing for a task of less than five seconds", async () => {
  const task = runTaskWithProgress("Quick", fakeTask(4_900));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await task).toBe("done");
  expect(printed).toEqual([]);
});

it("prints the current step every five seconds, and the duration at the end", async () => {
  const task = runTaskWithProgress("Slow", async (show) => {
    await fakeTask(7_000)();
    show("half");
    await fakeTask(7_000)();
  });
  await vi.advanceTimersByTimeAsync(15_000);
  await task;
  expect(printed).toEqual(["Slow… 5 s\n", "Slow… 10 s (half)\n", "Slow: 14 s\n"]);
});

it("stops printing when the task fails", async () => {
  const task = runTaskWithProgress("Doomed", async () => {
    await fakeTask(6_000)();
    throw new Error("no");
  }).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(7_000);
  expect(await task).toBe("no");
  const count = printed.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(printed).toHaveLength(count);
});
