import type { Logger } from "./logger.ts";

const repeatIntervalMs = 5 * 60 * 1000;

export type OutageLog = ReturnType<typeof createOutageLog>;

/** Creates a log of outages: the start, the end, and in between at most one failure every 5 minutes as a reminder. */
export function createOutageLog(log: Logger, description: string) {
  let since: number | undefined;
  let lastLoggedAt = 0;
  return {
    recordFailure(error: unknown): void {
      const now = Date.now();
      since ??= now;
      if (now - lastLoggedAt < repeatIntervalMs) return;
      lastLoggedAt = now;
      log.warn({ err: error, sinceSeconds: Math.round((now - since) / 1000) }, `${description}; retrying`);
    },
    recordRecovery(): void {
      if (since === undefined) return;
      log.info({ afterSeconds: Math.round((Date.now() - since) / 1000) }, `resolved: ${description}`);
      since = undefined;
      lastLoggedAt = 0;
    },
  };
}
