import { setImmediate as nextEventLoopIteration } from "node:timers/promises";
import { sleep } from "../concurrency/sleep.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";

interface ClaimLoopOptions<Item> {
  name: string;
  log: Logger;
  /** Each claim is a lease, which lasts longer than the processing. It expires if the process crashes. */
  claim(limit: number): Promise<Item[]>;
  /** Processes one item and ends its lease. `signal` is aborted when the loop closes. */
  processItem(item: Item, signal: AbortSignal): Promise<void>;
  concurrency: number;
  /** The maximum time between two claims, in milliseconds. Calls of `poll` cause additional claims. */
  pollMs: number;
  /** For items that are rare: returns whether there are any, due now or later. Without any, nothing is claimed. */
  hasItems?(): Promise<boolean>;
  /** The maximum time between two calls of `hasItems` while there are none, in milliseconds. */
  idlePollMs?: number;
  /** Returns in how many milliseconds the next item is due, if any. The next claim follows then, or after `pollMs`. */
  findNextDueMs?(): Promise<number | undefined>;
}

export type ClaimLoop<Item> = ReturnType<typeof startClaimLoop<Item>>;

/** The milliseconds to pause after a failed claim or item, so that a lasting failure does not cause a busy loop. */
const failurePauseMs = 500;
const minDuePollMs = 100;

/** Starts a loop that claims and processes items that are due. When an item ends, it claims the next ones. */
export function startClaimLoop<Item>(options: ClaimLoopOptions<Item>) {
  const { name, log, claim, processItem, concurrency, pollMs, findNextDueMs } = options;
  const { hasItems = async () => true, idlePollMs = pollMs } = options;
  const closing = new AbortController();
  const active = new Set<Promise<void>>();
  const outage = createOutageLog(log, `cannot claim ${name}`);
  let isPollRequested = false;
  let claiming: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  let maxPauseMs = pollMs;

  function poll(): void {
    isPollRequested = true;
    clearTimeout(timer);
    if (!closing.signal.aborted && active.size < concurrency) claiming ??= claimWhileRequested();
  }

  async function claimWhileRequested(): Promise<void> {
    while (isPollRequested && !closing.signal.aborted && active.size < concurrency) {
      // Waits, so that several calls of `poll` in the same event loop iteration cause only one claim.
      await nextEventLoopIteration();
      isPollRequested = false;
      const limit = concurrency - active.size;
      try {
        const isIdle = !(await hasItems());
        maxPauseMs = isIdle ? idlePollMs : pollMs;
        const items = isIdle ? [] : await claim(limit);
        for (const item of items) startItem(item);
        if (items.length >= limit) isPollRequested = true;
        outage.recordRecovery();
      } catch (error) {
        outage.recordFailure(error);
        await sleep(failurePauseMs, closing.signal);
        isPollRequested = true;
      }
    }
    const dueMs = (await findNextDueMs?.().catch(() => undefined)) ?? maxPauseMs;
    if (!closing.signal.aborted)
      timer = setTimeout(poll, Math.min(maxPauseMs, Math.max(minDuePollMs, Math.ceil(dueMs))));
    claiming = undefined;
    if (isPollRequested) poll();
  }

  function startItem(item: Item): void {
    const done = processItem(item, closing.signal)
      .catch((error) => {
        log.error({ err: error }, `processing of ${name} failed`);
        // Without a pause, an item that fails immediately could be claimed again immediately.
        return sleep(failurePauseMs, closing.signal);
      })
      .finally(() => {
        active.delete(done);
        if (isPollRequested) poll();
      });
    active.add(done);
  }

  poll();
  return {
    poll,
    startItem,
    /** Stops claiming items. Resolves when the items that are being processed have finished. */
    async close(): Promise<void> {
      clearTimeout(timer);
      closing.abort();
      await claiming;
      await Promise.all(active);
    },
  };
}
