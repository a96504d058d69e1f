import type { Logger } from "./logger.ts";
import { retryDelay } from "./retry-delay.ts";
import { sleep } from "./sleep.ts";

const again = 5 * 60 * 1000;

/** Tells of a trouble when it begins, every few minutes while it lasts, and when it is over: not at every try. */
export function openOutageLog(log: Logger, what: string) {
  let since: number | undefined;
  let told = 0;
  return {
    failed(error: unknown): void {
      const now = Date.now();
      since ??= now;
      if (now - told < again) return;
      told = now;
      log.warn({ err: error, sinceSeconds: Math.round((now - since) / 1000) }, `${what}; trying until it passes`);
    },
    recovered(): void {
      if (since === undefined) return;
      log.info({ afterSeconds: Math.round((Date.now() - since) / 1000) }, `over: ${what}`);
      since = undefined;
      told = 0;
    },
  };
}

/** Does `work` again and again until the signal is given; soon again, and later and later up to 2 s, where it fails. */
export async function repeatUntilAborted(
  signal: AbortSignal,
  outage: ReturnType<typeof openOutageLog>,
  work: () => Promise<void>,
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      await work();
      failures = 0;
      outage.recovered();
    } catch (error) {
      if (signal.aborted) return;
      outage.failed(error);
      await sleep(retryDelay(++failures, { longest: 2_000 }), signal);
    }
  }
}
