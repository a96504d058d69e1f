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
  process.stdout.isTTY = wasTTY;
});
const wasTTY = process.stdout.isTTY;

const fakeTask = (ms: number) => () => new Promise<string>((resolve) => void setTimeout(resolve, ms, "done"));

it("prints nothing for a task of less than two seconds", async () => {
  const task = runTaskWithProgress("Quick", fakeTask(1_900));
  await vi.advanceTimersByTimeAsync(5_000);
  expect(await task).toBe("done");
  expect(printed).toEqual([]);
});

it("prints plain lines without a terminal: after two seconds, every five seconds, and at the end", async () => {
  process.stdout.isTTY = false;
  const task = runTaskWithProgress("Slow", fakeTask(14_000));
  await vi.advanceTimersByTimeAsync(15_000);
  await task;
  expect(printed).toEqual(["Slow… 2 s\n", "Slow… 7 s\n", "Slow… 12 s\n", "Slow: 14 s\n"]);
});

it("updates one line in place on a terminal", async () => {
  process.stdout.isTTY = true;
  const task = runTaskWithProgress("Slow", async (show) => {
    show("half");
    await fakeTask(4_000)();
  });
  await vi.advanceTimersByTimeAsync(5_000);
  await task;
  expect(printed.length).toBeGreaterThan(6);
  expect(printed.slice(0, -1).join("")).not.toContain("\n");
  expect(printed.at(-3)).toBe("\r\x1b[2KSlow… 4 s (half)");
  expect(printed.at(-1)).toBe("Slow: 4 s\n");
});

it("stops printing when the task fails", async () => {
  const task = runTaskWithProgress("Doomed", async () => {
    await fakeTask(3_000)();
    throw new Error("no");
  }).catch((error: Error) => error.message);
  await vi.advanceTimersByTimeAsync(4_000);
  expect(await task).toBe("no");
  const count = printed.length;
  await vi.advanceTimersByTimeAsync(60_000);
  expect(printed).toHaveLength(count);
});
