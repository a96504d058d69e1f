import { MessageChannel } from "node:worker_threads";
import type { TillReportParkedReason } from "@pragma/contracts/till";
import { Admission } from "@pragma/runtime/admission/admission";
import { createWorkerThreadPool, WorkerOutOfMemoryError } from "@pragma/runtime/concurrency/worker-pool";
import { PermanentEventError } from "@pragma/runtime/retries/transient-error";
import {
  type CalculatedReport,
  type CalculatedTill,
  type CalculationThreadInput,
  orderTextBatchSize,
} from "./calculation-thread.ts";
import type { StoredOrderTexts } from "./documents/order-texts.ts";

/** Calculates tills in worker threads, so that requests are not blocked. */
export type TillCalculator = ReturnType<typeof createTillCalculator>;

/**
 * Tills of this size in bytes or more are calculated one at a time, in a thread of their own, so that small tills need not
 * wait for them.
 */
export const largeTillBytes = 4 * 1024 * 1024;

type TillCalculationTask = Omit<CalculationThreadInput, "port">;

export function createTillCalculator(options: { threads: number; heapMegabytes: number }) {
  const createPool = (poolOptions: Parameters<typeof createWorkerThreadPool>[2]) =>
    createWorkerThreadPool<CalculationThreadInput, void>(import.meta.url, "./calculation-thread", poolOptions);
  const smallTillPool = createPool(options);
  const largeTillPool = createPool({ ...options, threads: 1, minThreads: 0, bulk: "large" });
  const largeTills = new Admission({ perProcess: 1 });

  /** Returns the report as soon as it is calculated. The texts of its orders follow. */
  function startCalculation(task: TillCalculationTask): Promise<CalculatedTill | null> {
    const pool = task.bytes.byteLength < largeTillBytes ? smallTillPool : largeTillPool;
    const { port1, port2 } = new MessageChannel();
    const expected: ExpectedMessage[] = [];
    const expectTexts = () => {
      const texts = new Promise<StoredOrderTexts[]>((resolve, reject) => {
        expected.push({ resolve, reject: (error) => reject(toTillError(error, task)) });
      });
      // The caller may fail before it needs the texts.
      texts.catch(() => {});
      return texts;
    };
    const result = new Promise<CalculatedTill | null>((resolve, reject) => {
      const resolveReport = (report: CalculatedReport | null) => {
        const batchCount = task.isStored ? Math.ceil((report?.orders.length ?? 0) / orderTextBatchSize) : 0;
        resolve(report && { ...report, orderTexts: Array.from({ length: batchCount }, expectTexts) });
      };
      expected.push({ resolve: resolveReport, reject });
    });
    port1.on("message", (message) => expected.shift()?.resolve(message));
    pool.run({ ...task, port: port2 }, [port2]).catch((error: unknown) => {
      port1.close();
      for (const { reject } of expected) reject(error);
    });
    return result;
  }

  async function calculate(task: TillCalculationTask): Promise<CalculatedTill | null> {
    try {
      // Retries once in a different thread, because earlier tills may have used part of the failed thread's memory.
      return await startCalculation(task).catch((error) => {
        if (error instanceof WorkerOutOfMemoryError) return startCalculation(task);
        throw error;
      });
    } catch (error) {
      throw toTillError(error, task);
    }
  }

  return {
    /**
     * Returns a till's report and orders, or null if the till is in training mode. The texts of a small till may still be
     * on their way, so that storing them begins earlier. Those of a large till are complete.
     *
     * @throws `PermanentEventError` if the till needs more memory than a thread has. The texts can reject with it as well.
     */
    async run(task: TillCalculationTask): Promise<CalculatedTill | null> {
      if (task.bytes.byteLength < largeTillBytes) return calculate(task);
      return largeTills.run(async () => {
        const till = await calculate(task);
        await Promise.all(till?.orderTexts ?? []);
        return till;
      });
    },
    async close(): Promise<void> {
      await Promise.all([smallTillPool.close(), largeTillPool.close()]);
    },
  };
}

interface ExpectedMessage {
  resolve(message: unknown): void;
  reject(error: unknown): void;
}

function toTillError(error: unknown, { tillId }: Pick<TillCalculationTask, "tillId">): unknown {
  if (!(error instanceof WorkerOutOfMemoryError)) return error;
  return new PermanentEventError(`Till ${tillId} needs more memory than a worker thread has.`, {
    cause: error,
    publicReason: "too_large" satisfies TillReportParkedReason,
  });
}
