/** The delay after each failed attempt of a delivery, in milliseconds. A failure after the last delay is final. */
export type RetrySchedule = readonly number[];

interface FailedAttempt {
  /** How many attempts have failed, including this one. */
  failedAttempts: number;
  failedAt: Date;
  /** The delay that the endpoint requested, in milliseconds. */
  retryAfterMs: number | null;
}

/** Up to this share of a delay is added at random, so that deliveries that failed together are not retried together. */
const jitterRatio = 0.1;

/**
 * Returns the time of the next attempt after a failure; null when no attempt is left. A longer delay that the endpoint
 * requests is respected, up to the longest delay of the schedule.
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

/** Returns the delay of a Retry-After header (seconds or a date), in milliseconds; null when it is invalid or past. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const delayMs = /^\d{1,10}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return delayMs > 0 ? delayMs : null;
}
