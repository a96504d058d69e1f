import { fileURLToPath } from "node:url";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";

/** Thrown for a task that exceeded its thread's heap: only that thread ended. */
export class OutOfMemoryError extends Error {}

interface WorkerPoolOptions {
  threads: number;
  /** The heap of each thread, in megabytes. A single much larger allocation ends the process: limit inputs first. */
  heapMegabytes: number;
  /** Idle threads to keep: one by default, or none where tasks are rare and may wait until a thread has started. */
  minThreads?: 0 | 1;
}

/** Worker threads for calculations that would block the event loop. */
export type WorkerPool<Input, Output> = ReturnType<typeof createWorkerPool<Input, Output>>;

/** Starts threads that run the default export of `./name`, relative to the calling module. */
export function createWorkerPool<Input, Output>(
  moduleUrl: string,
  name: string,
  { threads, heapMegabytes, minThreads = 1 }: WorkerPoolOptions,
) {
  // A thread does not inherit the loader of its parent: one that runs from sources needs its own.
  const isSource = moduleUrl.endsWith(".ts");
  const pool = new Piscina<Input, Output>({
    filename: fileURLToPath(new URL(`${name}${isSource ? ".ts" : ".js"}`, moduleUrl)),
    execArgv: isSource ? ["--conditions=source", "--import", "tsx"] : [],
    minThreads,
    maxThreads: threads,
    idleTimeout: 60_000,
    concurrentTasksPerWorker: 1,
    resourceLimits: { maxOldGenerationSizeMb: heapMegabytes },
  });
  // A thread that fails while idle is replaced. If it had a task, the promise of that task rejects.
  pool.on("error", () => {});
  return {
    /**
     * Buffers in `transfer` are moved to the thread instead of copied, and no longer usable in this one.
     *
     * @throws `OutOfMemoryError`
     */
    async run(input: Input, transfer: ArrayBuffer[] = []): Promise<Output> {
      try {
        return await pool.run(input, { transferList: transfer });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
        throw new OutOfMemoryError(`A worker thread exceeded its ${heapMegabytes} MB heap.`, { cause: error });
      }
    },
    close: () => pool.close(),
  };
}

/** Returns a thread's output in a form whose `transfer` buffers are moved instead of copied. Call it in the thread. */
export function transferWorkerOutput<Output extends object>(output: Output, transfer: ArrayBuffer[]): Output {
  return move({ [transferableSymbol]: transfer, [valueSymbol]: output }) as Output;
}
