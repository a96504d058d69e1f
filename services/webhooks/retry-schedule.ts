/** How long after each failure of a delivery it is tried again, in milliseconds; after as many failures and one more it has failed. */
export type RetrySchedule = readonly number[];

interface Failure {
  /** How many attempts have failed, with this one. */
  failures: number;
  at: Date;
  /** What the endpoint asked for, in milliseconds. */
  retryAfter: number | null;
}

/** Up to this share of a wait is added to it, so that what failed together does not come back together. */
const jitter = 0.1;

/**
 * When to try again after a failure, or null when no attempt is left. An endpoint that asks for more time is given it,
 * up to the schedule's longest wait.
 */
export function nextAttemptAt(schedule: RetrySchedule, { failures, at, retryAfter }: Failure): Date | null {
  const step = schedule[failures - 1];
  if (step === undefined) return null;
  const asked = Math.min(retryAfter ?? 0, Math.max(...schedule));
  return new Date(at.getTime() + Math.max(step, asked) * (1 + jitter * Math.random()));
}

/** What a Retry-After header asks for, in milliseconds: seconds, or a date. Null when it says neither, or the past. */
export function parseRetryAfter(header: string | undefined, now: Date): number | null {
  if (header === undefined) return null;
  const wait = /^\d{1,10}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now.getTime();
  return wait > 0 ? wait : null;
}
