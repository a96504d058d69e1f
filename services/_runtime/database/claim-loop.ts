import { setImmediate as nextTurn } from "node:timers/promises";
import { sleep } from "../concurrency/sleep.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";

interface ClaimLoopOptions<Item> {
  /** What is claimed, for the log. */
  name: string;
  log: Logger;
  /**
   * Returns up to so many of the items that are due, each under a lease that outlasts the work on it: what a process has
   * claimed that then dies is due again once the lease has ended.
   */
  claim(limit: number): Promise<Item[]>;
  /** Works on one item, and ends its lease. The signal is given when the loop closes. */
  processItem(item: Item, signal: AbortSignal): Promise<void>;
  /** How many items are worked on at a time. */
  concurrency: number;
  /** How often the loop claims when nothing wakes it. */
  pollMs: number;
}

/** Claims work from the database, and does it. */
export type ClaimLoop<Item> = ReturnType<typeof startClaimLoop<Item>>;

/** How long the loop waits after it could not claim, and the place of work that failed stays taken. */
const failurePauseMs = 500;

/** Starts a loop that claims what is due when it is woken, when work that filled it ends, and every `pollMs`. */
export function startClaimLoop<Item>(options: ClaimLoopOptions<Item>) {
  const { name, log, claim, processItem, concurrency, pollMs } = options;
  const closing = new AbortController();
  const active = new Set<Promise<void>>();
  const outage = createOutageLog(log, `${name} cannot be claimed`);
  let isPollRequested = false;
  let claiming: Promise<void> | undefined;

  /** Claims as soon as there is room: something may be due. */
  function wake(): void {
    isPollRequested = true;
    if (!closing.signal.aborted && active.size < concurrency) claiming ??= claimWhileRequested();
  }

  async function claimWhileRequested(): Promise<void> {
    while (isPollRequested && !closing.signal.aborted && active.size < concurrency) {
      // What wakes it in this turn is claimed together.
      await nextTurn();
      isPollRequested = false;
      const limit = concurrency - active.size;
      try {
        const items = await claim(limit);
        for (const item of items) begin(item);
        if (items.length >= limit) isPollRequested = true;
        outage.recordRecovery();
      } catch (error) {
        outage.recordFailure(error);
        await sleep(failurePauseMs, closing.signal);
        isPollRequested = true;
      }
    }
    claiming = undefined;
  }

  /** Works on an item that was claimed, here or otherwise. */
  function begin(item: Item): void {
    const done = processItem(item, closing.signal)
      .catch((error) => {
        log.error({ err: error }, `work on ${name} failed`);
        // What fails at once would be claimed again at once.
        return sleep(failurePauseMs, closing.signal);
      })
      .finally(() => {
        active.delete(done);
        if (isPollRequested) wake();
      });
    active.add(done);
  }

  const polling = setInterval(wake, pollMs);
  wake();
  return {
    wake,
    begin,
    /** Claims nothing more; resolves when the work under way is over. */
    async close(): Promise<void> {
      clearInterval(polling);
      closing.abort();
      await claiming;
      await Promise.all(active);
    },
  };
}
