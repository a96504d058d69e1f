import { sleep } from "../concurrency/sleep.ts";
import { computeRetryDelayMs } from "../retries/retry-delay.ts";
import type { Logger } from "./logger.ts";

const repeatIntervalMs = 5 * 60 * 1000;

/** Tells of a trouble when it begins, every few minutes while it lasts, and when it is over: not at every try. */
export function createOutageLog(log: Logger, description: string) {
  let since: number | undefined;
  let lastLoggedAt = 0;
  return {
    recordFailure(error: unknown): void {
      const now = Date.now();
      since ??= now;
      if (now - lastLoggedAt < repeatIntervalMs) return;
      lastLoggedAt = now;
      log.warn(
        { err: error, sinceSeconds: Math.round((now - since) / 1000) },
        `${description}; trying until it passes`,
      );
    },
    recordRecovery(): void {
      if (since === undefined) return;
      log.info({ afterSeconds: Math.round((Date.now() - since) / 1000) }, `over: ${description}`);
      since = undefined;
      lastLoggedAt = 0;
    },
  };
}

/** Does `work` again and again until the signal is given; soon again, and later and later up to 2 s, where it fails. */
export async function repeatUntilAborted(
  signal: AbortSignal,
  outage: ReturnType<typeof createOutageLog>,
  work: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      failures = 0;
      outage.recordRecovery();
    } catch (error) {
      if (signal.aborted) return;
      outage.recordFailure(error);
      await sleep(computeRetryDelayMs(++failures, { longest: 2_000 }), signal);
    }
  }
}
