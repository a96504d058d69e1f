import { isTransient } from "@pragma/runtime/retries/transient-error";

interface BatchOptions {
  /** Items of one call at most. */
  maxBatchSize: number;
  /** Calls under way at most. */
  maxConcurrentBatches: number;
  /** How long items are gathered before each call; only for the rest of the turn unless given. */
  batchDelayMs?: number;
}

/**
 * Makes one call for many: what is asked for while earlier calls are under way is gathered, and asked for together.
 * `run` answers in the order of the items, or with nothing. When it rejects, unless the cause is transient, it is called for each item by
 * itself: one that cannot be done must keep no other from being done.
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

  /** Not at once: what is asked for in the same turn goes together. */
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
