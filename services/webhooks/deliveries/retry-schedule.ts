/** The delay before each retry of a delivery, in milliseconds. The retry after the last delay is the last attempt. */
export type WebhookRetrySchedule = readonly number[];

interface FailedAttempt {
  /** Number of failed attempts, including this attempt. */
  failedAttempts: number;
  failedAt: Date;
  /** The delay that the endpoint requested, in milliseconds; null when it requested no delay. */
  retryAfterMs: number | null;
}

/** Maximum random addition, as a share of the delay, so that deliveries that fail together are not retried together. */
const jitterRatio = 0.1;

/**
 * Returns the time of the next attempt after a failure; null when no retry is left. If the endpoint requests a longer
 * delay than the schedule, the requested delay applies, up to the longest delay of the schedule.
 */
export function computeNextWebhookAttemptAt(
  schedule: WebhookRetrySchedule,
  { failedAttempts, failedAt, retryAfterMs }: FailedAttempt,
): Date | null {
  const scheduledDelayMs = schedule[failedAttempts - 1];
  if (scheduledDelayMs === undefined) return null;
  const requestedDelayMs = Math.min(retryAfterMs ?? 0, Math.max(...schedule));
  return new Date(
    failedAt.getTime() + Math.max(scheduledDelayMs, requestedDelayMs) * (1 + jitterRatio * Math.random()),
  );
}

/**
 * Returns the delay that a Retry-After header (seconds or a date) requests, in milliseconds. Returns null if the header
 * is missing or invalid, or if the delay is not positive.
 */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const delayMs = /^\d{1,10}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return delayMs > 0 ? delayMs : null;
}
