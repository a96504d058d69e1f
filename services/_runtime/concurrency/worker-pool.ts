import { fileURLToPath } from "node:url";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";

/** Thrown for an input that takes more memory than a thread has: that thread ended, and no other. */
export class OutOfMemoryError extends Error {}

interface WorkerPoolOptions {
  threads: number;
  /** The heap of each thread, in megabytes. A single allocation far beyond it ends the process: bound inputs first. */
  heapMegabytes: number;
  /** Threads kept while there is nothing to do: one, or none where work is rare and may wait for a start. */
  minThreads?: 0 | 1;
}

/** Threads for calculations that would hold up requests. */
export type WorkerPool<Input, Output> = ReturnType<typeof createWorkerPool<Input, Output>>;

/** Starts threads on a module whose default export is the calculation, `./name` relative to the module that asks. */
export function createWorkerPool<Input, Output>(
  moduleUrl: string,
  name: string,
  { threads, heapMegabytes, minThreads: kept = 1 }: WorkerPoolOptions,
) {
  // A thread gets no loader from the thread that starts it: one that runs from sources brings its own.
  const isSource = moduleUrl.endsWith(".ts");
  const pool = new Piscina<Input, Output>({
    filename: fileURLToPath(new URL(`${name}${isSource ? ".ts" : ".js"}`, moduleUrl)),
    execArgv: isSource ? ["--conditions=source", "--import", "tsx"] : [],
    minThreads: kept,
    maxThreads: threads,
    idleTimeout: 60_000,
    concurrentTasksPerWorker: 1,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  });
  // A thread that fails without a task is replaced; the task that it had, if any, is rejected to whoever waits for it.
  pool.on("error", () => {});
  return {
    /**
     * Bytes in `transfer` are handed over, not copied: they are gone from this thread.
     *
     * @throws `OutOfMemoryError`
     */
    async run(input: Input, transfer: ArrayBuffer[] = []): Promise<Output> {
      try {
        return await pool.run(input, { transferList: transfer });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
        throw new OutOfMemoryError(`A thread ran out of its ${heapMegabytes} MB of memory.`, { cause: error });
      }
    },
    close: () => pool.close(),
  };
}

/** What a calculation returns to hand bytes of its output over instead of copying them. To be called in the thread. */
export function transferResult<Output extends object>(output: Output, transfer: ArrayBuffer[]): Output {
  return move({ [transferableSymbol]: transfer, [valueSymbol]: output }) as Output;
}
