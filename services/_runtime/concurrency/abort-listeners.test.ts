import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { racePromiseWithAbort } from "./race-promise-with-abort.ts";
import { runWithDeadline } from "./run-with-deadline.ts";
import { sleep } from "./sleep.ts";

it("causes no warning about listeners when many callers share a signal, and leaves none behind", async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => void warnings.push(warning);
  process.on("warning", onWarning);
  try {
    const waits = [
      (signal: AbortSignal) => racePromiseWithAbort(sleep(20), signal),
      (signal: AbortSignal) => sleep(20, signal),
      (parent: AbortSignal) =>
        runWithDeadline(() => sleep(20), { timeoutMs: 60_000, createError: () => new Error("late"), parent }),
    ];
    for (const wait of waits) {
      const { signal } = new AbortController();
      await Promise.all(Array.from({ length: 100 }, () => wait(signal)));
      expect(getEventListeners(signal, "abort")).toEqual([]);
    }
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", onWarning);
  }
});
