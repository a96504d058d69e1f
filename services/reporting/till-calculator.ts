import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { createWorkerPool, OutOfMemoryError } from "@pragma/runtime/concurrency/worker-pool";
import { PermanentError } from "@pragma/runtime/retries/transient-error";
import type { TillCalculationResult, TillCalculationTask } from "./calculate-till.ts";

/** A pool of threads that calculates tills without blocking requests. */
export type TillCalculator = ReturnType<typeof createTillCalculator>;

/** Tills of at least this size are calculated one at a time, so that small tills always find a free thread. */
const largeTillBytes = 4 * 1024 * 1024;

export function createTillCalculator(options: { threads: number; heapMegabytes: number }) {
  const pool = createWorkerPool<TillCalculationTask, TillCalculationResult>(
    import.meta.url,
    "./calculate-till",
    options,
  );
  const largeTillSemaphore = createKeyedSemaphore(1);

  async function calculate(task: TillCalculationTask): Promise<TillCalculationResult> {
    try {
      // Retried in a fresh thread: memory that earlier tills used may have caused the failure.
      return await pool.run(task).catch((error) => {
        if (error instanceof OutOfMemoryError) return pool.run(task);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof OutOfMemoryError)) throw error;
      throw new PermanentError(`Till ${task.tillId} needs more memory than a thread has.`, { cause: error });
    }
  }

  return {
    /** @throws `PermanentError` for a till that needs more memory than a thread has. */
    run: (task: TillCalculationTask) =>
      task.bytes.byteLength < largeTillBytes ? calculate(task) : largeTillSemaphore.run(() => calculate(task)),
    close: () => pool.close(),
  };
}
