import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";
import { getCompiledFile } from "../process/compiled-file.ts";

/** The error for a task that exceeded the heap of its thread. The error ends only this thread, not the process. */
export class WorkerOutOfMemoryError extends Error {}

/**
 * By how much threads of bulk work are nicer than other threads. While both have work, the operating system gives the other
 * ones, such as the event loop and the threads of small tills, six times as much CPU time (`export`), or 30 times (`large`).
 * With more, exports would stand still on a machine that is always busy.
 */
const niceIncrements = { export: 8, large: 15 };

interface WorkerPoolOptions {
  threads: number;
  /**
   * The maximum heap size of each thread, in megabytes. Limit the size of inputs, because a single allocation that is
   * much larger than the heap ends the whole process.
   */
  heapMegabytes: number;
  /**
   * The maximum size of the part of the heap with new objects, in megabytes. By default, it grows to 48 MB under load. A
   * smaller one takes more CPU time.
   */
  newObjectMegabytes?: number;
  /**
   * Minimum number of threads after the first task; 1 by default. With 0, every thread ends after a minute without tasks and
   * frees its memory, but the next task waits for the start of a new thread.
   */
  minThreads?: 0 | 1;
  /** The kind of tasks for which nobody waits each second: exports, or large tills and bodies. All other work goes first. */
  bulk?: keyof typeof niceIncrements;
}

/** A pool of worker threads for CPU-intensive tasks, which would otherwise block the event loop. */
export type WorkerThreadPool<Input, Output> = ReturnType<typeof createWorkerThreadPool<Input, Output>>;

/**
 * Creates a pool of threads that run the default export of a module. `name` is the path of the module, relative to
 * `moduleUrl` and without file extension. The first thread starts with the first task, so that a process that only starts
 * up, or never gets such a task, needs neither the time nor the memory.
 */
export function createWorkerThreadPool<Input, Output>(
  moduleUrl: string,
  name: string,
  { threads, heapMegabytes, newObjectMegabytes, minThreads = 1, bulk }: WorkerPoolOptions,
) {
  let pool: Piscina<Input, Output> | undefined;
  function createPool(): Piscina<Input, Output> {
    const created = new Piscina<Input, Output>({
      ...findThreadModule(moduleUrl, name),
      minThreads,
      maxThreads: threads,
      idleTimeout: 60_000,
      concurrentTasksPerWorker: 1,
      ...(bulk && { niceIncrement: niceIncrements[bulk] }),
      resourceLimits: {
        maxOldGenerationSizeMb: heapMegabytes,
        ...(newObjectMegabytes !== undefined && { maxYoungGenerationSizeMb: newObjectMegabytes }),
      },
    });
    // Prevents an uncaught error when a thread fails without a task. If a thread fails during a task, the task rejects.
    return created.on("error", () => {});
  }
  return {
    /**
     * Runs a task in a thread and returns its output. The buffers and ports in `transfer` are moved instead of copied, so the
     * calling thread can no longer use them.
     *
     * @throws `WorkerOutOfMemoryError`
     */
    async run(input: Input, transfer: (ArrayBuffer | MessagePort)[] = []): Promise<Output> {
      try {
        pool ??= createPool();
        return await pool.run(input, { transferList: transfer });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ERR_WORKER_OUT_OF_MEMORY") throw error;
        throw new WorkerOutOfMemoryError(`A worker thread exceeded its ${heapMegabytes} MB heap.`, { cause: error });
      }
    },
    async close(): Promise<void> {
      await pool?.close();
    },
  };
}

/**
 * With this argument, a thread imports its module asynchronously. By default, Piscina requires it, and Node.js 20 aborts the
 * whole process if the thread is terminated meanwhile.
 */
const compiledThreadArguments = ["--no-experimental-require-module"];

/** Returns the file that a thread runs, and the arguments of Node.js. */
function findThreadModule(moduleUrl: string, name: string): { filename: string; execArgv: string[] } {
  if (!moduleUrl.endsWith(".ts"))
    return { filename: fileURLToPath(new URL(`${name}.js`, moduleUrl)), execArgv: compiledThreadArguments };
  const source = new URL(`${name}.ts`, moduleUrl);
  // `npm test` sets this variable, because it has compiled all files, and compiled threads start in a third of the time.
  if (process.env.TEST_COMPILED_THREADS === "true")
    return { filename: getCompiledFile(source), execArgv: compiledThreadArguments };
  // A thread does not inherit its parent's module loader, so threads that run TypeScript sources need their own.
  return { filename: fileURLToPath(source), execArgv: ["--conditions=source", "--import", "tsx"] };
}

/** Returns an output whose buffers in `transfer` are moved instead of copied. The thread must return this output. */
export function markWorkerOutputForTransfer<Output extends object>(output: Output, transfer: ArrayBuffer[]): Output {
  return move({ [transferableSymbol]: transfer, [valueSymbol]: output }) as Output;
}
