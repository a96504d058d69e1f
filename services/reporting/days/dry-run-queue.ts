import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { largeTillBytes } from "../threaded-till-report-calculator.ts";

/**
 * One small till at a time in each instance, so that dry runs leave the other threads to tills that are pushed, and one
 * large till, so that the dry runs of small tills do not wait for it.
 */
const calculationSemaphore = createKeyedSemaphore(1);
/** One till at a time of each location, so that a location cannot delay the dry runs of others by many of its own. */
const locationSemaphore = createKeyedSemaphore(1);
/** A dry run that has waited longer is dropped, because the sender of its request has stopped waiting. */
const maxWaitMs = 15_000;

let droppedCount = 0;

/** Returns how many dry runs this process dropped, because they had waited too long. */
export const countDroppedTillDryRuns = (): number => droppedCount;

/**
 * Computes the dry run of a till after those that were queued before it.
 *
 * @throws Error when it has waited too long.
 */
export function runQueuedDryRun<Result>(
  { locationId, bodyBytes }: { locationId: string; bodyBytes: number },
  computeDryRun: () => Promise<Result>,
): Promise<Result> {
  const queuedAtMs = performance.now();
  const computeInTime = async () => {
    if (performance.now() - queuedAtMs > maxWaitMs) {
      droppedCount += 1;
      throw new Error("The request has waited too long.");
    }
    return computeDryRun();
  };
  const size = bodyBytes < largeTillBytes ? "small" : "large";
  return locationSemaphore.run(() => calculationSemaphore.run(computeInTime, size), locationId);
}
