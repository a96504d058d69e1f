import { fileURLToPath } from "node:url";
import type { MessagePort } from "node:worker_threads";
import { move, Piscina, transferableSymbol, valueSymbol } from "piscina";
import { getCompiledFile } from "../process/package-folder.ts";

/** The error for a task that exceeded the heap of its thread. The error ends only this thread, not the process. */
export class WorkerOutOfMemoryError extends Error {}

/** While both have work, other threads get 6 (`export`) or 30 times (`large`) as much CPU time as bulk threads. */
const niceIncrements = { export: 8, large: 15 };

interface WorkerPoolOptions {
  threads: number;
  /** Limit the size of inputs, because a single allocation that is much larger than the heap ends the whole process. */
  heapMegabytes: number;
  /** The maximum size of the young generation, which otherwise grows to 48 MB under load. Less takes more CPU time. */
  newObjectMegabytes?: number;
  /** After the first task; 1 by default. With 0, every thread ends after a minute without tasks. */
  minThreads?: 0 | 1;
  /** The kind of tasks for which nobody waits each second: exports, or large tills and bodies. All other work goes first. */
  bulk?: keyof typeof niceIncrements;
}

export type WorkerThreadPool<Input, Output> = ReturnType<typeof createWorkerThreadPool<Input, Output>>;

/** Runs the default export of the module `name`, relative to `moduleUrl`. Starts threads with the first task. */
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
    /** Runs a task in a thread, to which what is in `transfer` is moved. @throws `WorkerOutOfMemoryError` */
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

/** By default, Piscina requires the module, and Node.js 20 aborts the process if the thread is terminated meanwhile. */
const compiledThreadArguments = ["--no-experimental-require-module"];

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
