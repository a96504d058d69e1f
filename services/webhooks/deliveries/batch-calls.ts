import { isTransient } from "@pragma/runtime/retries/transient-error";

interface BatchOptions {
  maxBatchSize: number;
  maxConcurrentBatches: number;
  /** Milliseconds to collect items before each call. By default, items of one event loop iteration are collected. */
  batchDelayMs?: number;
}

/**
 * Returns a function that processes single items in batches. Items that arrive while `maxConcurrentBatches` calls are
 * in progress are collected for the next call. `runBatch` returns one result per item, in the sequence of the items, or
 * undefined if items have no results. If `runBatch` rejects a batch with a transient error, all items of the batch are
 * rejected. After any other error, `runBatch` is called again for each item alone, so that one invalid item does not
 * make the other items fail.
 */
export function batchCalls<Item, Result>(
  runBatch: (items: Item[]) => Promise<Result[] | undefined>,
  { maxBatchSize, maxConcurrentBatches, batchDelayMs = 0 }: BatchOptions,
): (item: Item) => Promise<Result> {
  interface PendingCall {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  let pendingCalls: PendingCall[] = [];
  let activeBatches = 0;
  let isScheduled = false;

  /** Starts the next batch after a delay, so that items of the same event loop iteration share the batch. */
  function scheduleBatch(): void {
    if (isScheduled || activeBatches >= maxConcurrentBatches || pendingCalls.length === 0) return;
    isScheduled = true;
    if (batchDelayMs > 0) setTimeout(startBatch, batchDelayMs);
    else setImmediate(startBatch);
  }

  async function startBatch(): Promise<void> {
    isScheduled = false;
    const batch = pendingCalls.slice(0, maxBatchSize);
    pendingCalls = pendingCalls.slice(maxBatchSize);
    activeBatches += 1;
    scheduleBatch();
    await settleBatch(batch);
    activeBatches -= 1;
    scheduleBatch();
  }

  async function settleBatch(batch: PendingCall[]): Promise<void> {
    try {
      const results = await runBatch(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results?.[index] as Result);
    } catch (error) {
      if (batch.length > 1 && !isTransient(error)) for (const each of batch) await settleBatch([each]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      pendingCalls.push({ item, resolve, reject });
      scheduleBatch();
    });
}
