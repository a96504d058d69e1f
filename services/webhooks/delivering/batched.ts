import { isTransient } from "@pragma/runtime/transient-error";

interface BatchLimits {
  /** Items of one call at most. */
  size: number;
  /** Calls under way at most. */
  concurrency: number;
  /** How long items are gathered before each call; only for the rest of the turn unless given. */
  gatherMs?: number;
}

/**
 * Makes one call for many: what is asked for while earlier calls are under way is gathered, and asked for together.
 * `run` answers in the order of the items, or with nothing. When it rejects, unless the cause is transient, it is called for each item by
 * itself: one that cannot be done must keep no other from being done.
 */
export function batched<Item, Result>(
  run: (items: Item[]) => Promise<Result[] | undefined>,
  { size, concurrency, gatherMs = 0 }: BatchLimits,
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  let waiting: Waiting[] = [];
  let active = 0;
  let isPlanned = false;

  /** Not at once: what is asked for in the same turn goes together. */
  function plan(): void {
    if (isPlanned || active >= concurrency || waiting.length === 0) return;
    isPlanned = true;
    if (gatherMs > 0) setTimeout(call, gatherMs);
    else setImmediate(call);
  }

  async function call(): Promise<void> {
    isPlanned = false;
    const batch = waiting.slice(0, size);
    waiting = waiting.slice(size);
    active += 1;
    plan();
    await settle(batch);
    active -= 1;
    plan();
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results?.[index] as Result);
    } catch (error) {
      if (batch.length > 1 && !isTransient(error)) for (const each of batch) await settle([each]);
      else for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      plan();
    });
}
