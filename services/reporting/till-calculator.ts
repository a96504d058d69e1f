import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { createWorkerPool, OutOfMemoryError } from "@pragma/runtime/concurrency/worker-pool";
import { PermanentError } from "@pragma/runtime/retries/transient-error";
import type { CalculatedTill, CalculateTillTask } from "./calculate-till.ts";

/** Calculates tills without holding up requests. */
export type TillCalculator = ReturnType<typeof createTillCalculator>;

/** From this size on, in bytes, tills are calculated one at a time: the others have the other threads. */
const largeTillBytes = 4 * 1024 * 1024;

export function createTillCalculator(options: { threads: number; heapMegabytes: number }) {
  const pool = createWorkerPool<CalculateTillTask, CalculatedTill>(import.meta.url, "./calculate-till", options);
  const largeTillSemaphore = createKeyedSemaphore(1);

  async function calculate(task: CalculateTillTask): Promise<CalculatedTill> {
    try {
      // A second time in a thread of its own: what ended the first may have been left there by another till.
      return await pool.run(task).catch((error) => {
        if (error instanceof OutOfMemoryError) return pool.run(task);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      throw new PermanentError(`Till ${task.tillId} takes more memory than a thread has.`, { cause: error });
    }
  }

  return {
    /** @throws `PermanentError` for a till that takes more memory than a thread has. */
    run: (task: CalculateTillTask) =>
      task.bytes.byteLength < largeTillBytes ? calculate(task) : largeTillSemaphore.run(() => calculate(task)),
    close: () => pool.close(),
  };
}
