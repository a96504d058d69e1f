import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { largeTillBytes } from "../threaded-till-report-calculator.ts";

/**
 * One small till at a time in each instance, so that dry runs leave the other threads to tills that are pushed, and one
 * large till, so that the dry runs of small tills do not wait for it.
 */
const calculationSemaphore = createKeyedSemaphore(1);
/** One till at a time of each location, so that a location cannot delay the dry runs of others by many of its own. */
const locationSemaphore = createKeyedSemaphore(1);
/** A check that has waited longer is not run, because the sender of its request has stopped waiting. */
const maxWaitMs = 15_000;

let droppedCheckCount = 0;

/** Returns how many checks this process dropped, because they had waited too long. */
export const countDroppedTillChecks = (): number => droppedCheckCount;

/**
 * Runs the check of a till after those that were queued before it.
 *
 * @throws Error when it has waited too long.
 */
export function runQueuedTillCheck<Result>(
  { locationId, bodyBytes }: { locationId: string; bodyBytes: number },
  check: () => Promise<Result>,
): Promise<Result> {
  const queuedAtMs = performance.now();
  const checkInTime = async () => {
    if (performance.now() - queuedAtMs > maxWaitMs) {
      droppedCheckCount += 1;
      throw new Error("The request has waited too long.");
    }
    return check();
  };
  const size = bodyBytes < largeTillBytes ? "small" : "large";
  return locationSemaphore.run(() => calculationSemaphore.run(checkInTime, size), locationId);
}
