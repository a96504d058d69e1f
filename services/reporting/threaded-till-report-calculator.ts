import type { TillReportParkedReason } from "@pragma/contracts/till";
import { createKeyedSemaphore } from "@pragma/runtime/concurrency/semaphore";
import { createWorkerThreadPool, WorkerOutOfMemoryError } from "@pragma/runtime/concurrency/worker-pool";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import type { TillCalculationResult, TillCalculationWorkerInput } from "./calculate-stored-till.ts";

/** Calculates tills in worker threads, so that requests are not blocked. */
export type ThreadedTillReportCalculator = ReturnType<typeof createThreadedTillReportCalculator>;

/** Tills of this size in bytes or more are calculated one at a time, so that a thread is available for small tills. */
export const largeTillBytes = 4 * 1024 * 1024;

export function createThreadedTillReportCalculator(options: { threads: number; heapMegabytes: number }) {
  const pool = createWorkerThreadPool<TillCalculationWorkerInput, TillCalculationResult>(
    import.meta.url,
    "./calculate-stored-till",
    options,
  );
  const largeTillSemaphore = createKeyedSemaphore(1);

  async function calculate(task: TillCalculationWorkerInput): Promise<TillCalculationResult> {
    try {
      // Retries once in a different thread, because earlier tills may have used part of the failed thread's memory.
      return await pool.run(task).catch((error) => {
        if (error instanceof WorkerOutOfMemoryError) return pool.run(task);
        throw error;
      });
    } catch (error) {
      if (!(error instanceof WorkerOutOfMemoryError)) throw error;
      throw new PermanentEventError(`Till ${task.tillId} needs more memory than a worker thread has.`, {
        cause: error,
        publicReason: "too_large" satisfies TillReportParkedReason,
      });
    }
  }

  return {
    /**
     * Returns a till's report and orders, or null if the till is in training mode.
     *
     * @throws `PermanentEventError` if the till needs more memory than a thread has.
     */
    run: (task: TillCalculationWorkerInput) =>
      task.bytes.byteLength < largeTillBytes ? calculate(task) : largeTillSemaphore.run(() => calculate(task)),
    close: () => pool.close(),
  };
}
