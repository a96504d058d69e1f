import { usageBatchReplySchema } from "@pragma/contracts/usage";
import type { Logger } from "@pragma/runtime/observability/logger";
import { createOutageLog } from "@pragma/runtime/observability/outage-log";
import type { UsageCounter } from "./usage-counter.ts";

interface UsageSenderOptions {
  counter: UsageCounter;
  /** Sends a batch to accounts and returns its reply. Rejects if accounts may not have received the batch. */
  send(batch: string): Promise<string>;
  intervalMs: number;
  log: Logger;
}

/**
 * Sends what a counter has counted to accounts at an interval. A batch without a reply is sent again with the same id, so
 * that accounts stores it once. Meanwhile requests are counted in memory. `stop` sends the rest; a process that is killed
 * loses what it has counted since it last sent.
 */
export function startUsageSender({ counter, send, intervalMs, log }: UsageSenderOptions) {
  const outage = createOutageLog(log, "cannot send the usage of API keys to accounts");
  /** The batch of which it is unknown whether accounts has stored it. */
  let pendingBatch: string | undefined;
  let sending: Promise<void> | undefined;

  async function sendAll(): Promise<void> {
    try {
      for (;;) {
        if (pendingBatch === undefined) {
          const batch = counter.takeBatch();
          if (!batch) return;
          pendingBatch = JSON.stringify(batch);
        }
        const reply = usageBatchReplySchema.parse(await send(pendingBatch));
        if (reply === "failed") throw new Error("accounts could not store the batch");
        pendingBatch = undefined;
        outage.recordRecovery();
        if (reply === "rejected") log.error("accounts rejected a batch of usage; its counts are lost");
      }
    } catch (error) {
      outage.recordFailure(error);
    }
  }

  /** Sends everything that has been counted so far. Resolves without an error if this fails. */
  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => (sending = undefined));
    return sending;
  }

  const timer = setInterval(flush, intervalMs);
  return {
    flush,
    async stop(): Promise<void> {
      clearInterval(timer);
      // What was counted after the current batches were taken is sent by the second call.
      await sending;
      await flush();
    },
  };
}
