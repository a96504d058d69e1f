/** How long after each failure of a delivery it is tried again, in milliseconds; after as many failures and one more it has failed. */
export type RetrySchedule = readonly number[];

interface FailedAttempt {
  /** How many attempts have failed, with this one. */
  failedAttempts: number;
  failedAt: Date;
  /** What the endpoint asked for, in milliseconds. */
  retryAfterMs: number | null;
}

/** Up to this share of a wait is added to it, so that what failed together does not come back together. */
const jitterRatio = 0.1;

/**
 * When to try again after a failure, or null when no attempt is left. An endpoint that asks for more time is given it,
 * up to the schedule's longest wait.
 */
export function computeNextAttemptAt(
  schedule: RetrySchedule,
  { failedAttempts, failedAt, retryAfterMs }: FailedAttempt,
): Date | null {
  const scheduledDelayMs = schedule[failedAttempts - 1];
  if (scheduledDelayMs === undefined) return null;
  const requestedDelayMs = Math.min(retryAfterMs ?? 0, Math.max(...schedule));
  return new Date(
    failedAt.getTime() + Math.max(scheduledDelayMs, requestedDelayMs) * (1 + jitterRatio * Math.random()),
  );
}

/** What a Retry-After header asks for, in milliseconds: seconds, or a date. Null when it says neither, or the past. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const delayMs = /^\d{1,10}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return delayMs > 0 ? delayMs : null;
}
