import { createSemaphore } from "@pragma/runtime/semaphore";
import { PermanentError } from "@pragma/runtime/transient-error";
import { createWorkerPool, OutOfMemoryError } from "@pragma/runtime/worker-pool";
import type { CalculatedTill, CalculateTill } from "./calculate-till.ts";

/** Calculates tills without holding up requests. */
export type TillCalculator = ReturnType<typeof openTillCalculator>;

/** From this size on, in bytes, tills are calculated one at a time: the others have the other threads. */
const hugeSize = 4 * 1024 * 1024;

export function openTillCalculator(options: { threads: number; heapMegabytes: number }) {
  const pool = createWorkerPool<CalculateTill, CalculatedTill>(import.meta.url, "./calculate-till", options);
  const huge = createSemaphore(1);

  async function calculate(task: CalculateTill): Promise<CalculatedTill> {
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
    run: (task: CalculateTill) =>
      task.bytes.byteLength < hugeSize ? calculate(task) : huge.run(() => calculate(task)),
    close: () => pool.close(),
  };
}
