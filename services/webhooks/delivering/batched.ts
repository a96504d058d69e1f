interface Batching {
  /** Items of one call at most. */
  size: number;
  /** Calls under way at most. */
  atATime: number;
  /** Milliseconds for which is gathered before each call; only for the rest of the turn unless given. */
  gather?: number;
}

/**
 * Makes one call for many: what is asked for while earlier calls are under way is gathered, and asked for together.
 * `run` answers in the order of the items. When it rejects, so does every call that it was made for.
 */
export function batched<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  { size, atATime, gather = 0 }: Batching,
): (item: Item) => Promise<Result> {
  interface Waiting {
    item: Item;
    resolve(result: Result): void;
    reject(error: unknown): void;
  }
  let waiting: Waiting[] = [];
  let underWay = 0;
  let isPlanned = false;

  /** Not at once: what is asked for in the same turn goes together. */
  function plan(): void {
    if (isPlanned || underWay >= atATime || waiting.length === 0) return;
    isPlanned = true;
    afterwards(() => {
      isPlanned = false;
      const batch = waiting.slice(0, size);
      waiting = waiting.slice(size);
      underWay += 1;
      void settle(batch).then(() => {
        underWay -= 1;
        plan();
      });
      plan();
    });
  }

  function afterwards(call: () => void): void {
    if (gather > 0) setTimeout(call, gather);
    else setImmediate(call);
  }

  async function settle(batch: Waiting[]): Promise<void> {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      plan();
    });
}
