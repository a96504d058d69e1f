import type { Logger } from "./logger.ts";

/** Tells of a trouble when it begins, every few minutes while it lasts, and when it is over: not at every try. */
export interface OutageLog {
  failed(error: unknown): void;
  recovered(): void;
}

const again = 5 * 60 * 1000;

export function openOutageLog(log: Logger, what: string): OutageLog {
  let since: number | undefined;
  let told = 0;
  return {
    failed(error) {
      const now = Date.now();
      since ??= now;
      if (now - told < again) return;
      told = now;
      log.warn({ err: error, sinceSeconds: Math.round((now - since) / 1000) }, `${what}; trying until it passes`);
    },
    recovered() {
      if (since === undefined) return;
      log.info({ afterSeconds: Math.round((Date.now() - since) / 1000) }, `over: ${what}`);
      since = undefined;
      told = 0;
    },
  };
}
