export type WebhookPostResult =
  | { status: number; response: string; retryAfterMs: number | null }
  | {
      status: null;
      reason: string;
      /** The IP addresses of the host that were tried, if no connection could be made, and the URL does not contain the address. */
      triedAddresses?: readonly string[];
      /** Whether nothing was sent because a quota is used up, which shows nothing about the endpoint. */
      isQuotaUsedUp?: true;
    };

export interface WebhookAttemptEvaluation {
  state: "succeeded" | "pending" | "failed";
  /** Why the attempt failed, as shown to clients; null when the attempt succeeded. */
  error: string | null;
  nextAttemptAt: Date | null;
  isEndpointGone: boolean;
}

interface EvaluateAttemptOptions {
  schedule: readonly number[];
  failedAttempts: number;
  endedAt: Date;
  /** Whether the message is a test, which is never retried. */
  isTest: boolean;
}

/**
 * Returns the effect of an attempt on its delivery. A response with status 2xx is a success. 410 and a used-up quota are
 * permanent failures: deliveries that waited for the next day would use up its quota. After any other result, including a
 * redirect, the message is retried according to the schedule, unless the message is a test.
 */
export function evaluateAttempt(
  postResult: WebhookPostResult,
  { schedule, failedAttempts, endedAt, isTest }: EvaluateAttemptOptions,
): WebhookAttemptEvaluation {
  const { status } = postResult;
  if (status !== null && status >= 200 && status < 300) {
    return { state: "succeeded", error: null, nextAttemptAt: null, isEndpointGone: false };
  }
  const isEndpointGone = status === 410;
  const retryAfterMs = status === null ? null : postResult.retryAfterMs;
  const failure = { failedAttempts: failedAttempts + 1, failedAt: endedAt, retryAfterMs };
  const isFinal = isEndpointGone || isTest || isQuotaUsedUp(postResult);
  const nextAttemptAt = isFinal ? null : computeNextWebhookAttemptAt(schedule, failure);
  const error = describePostFailure(postResult);
  return { state: nextAttemptAt ? "pending" : "failed", error, nextAttemptAt, isEndpointGone };
}

/** Whether nothing was sent because a quota is used up. */
export const isQuotaUsedUp = (postResult: WebhookPostResult): boolean =>
  postResult.status === null && postResult.isQuotaUsedUp === true;

function describePostFailure(postResult: WebhookPostResult): string {
  if (postResult.status === null) return postResult.reason;
  const isRedirect = postResult.status >= 300 && postResult.status < 400;
  return `The endpoint responded with status ${postResult.status}.${isRedirect ? " Redirects are not followed." : ""}`;
}

/** Maximum random addition, as a share of the delay, so that deliveries that fail together are not retried together. */
const jitterRatio = 0.1;

/**
 * Returns the time of the next attempt after a failure; null when no retry is left. `failedAttempts` includes this failure.
 * The schedule contains the delay before each retry, in milliseconds. If the endpoint requests a longer delay, the requested
 * delay applies, up to the longest delay of the schedule.
 */
export function computeNextWebhookAttemptAt(
  schedule: readonly number[],
  { failedAttempts, failedAt, retryAfterMs }: { failedAttempts: number; failedAt: Date; retryAfterMs: number | null },
): Date | null {
  const scheduledDelayMs = schedule[failedAttempts - 1];
  if (scheduledDelayMs === undefined) return null;
  const delayMs = Math.max(scheduledDelayMs, Math.min(retryAfterMs ?? 0, Math.max(...schedule)));
  return new Date(failedAt.getTime() + delayMs * (1 + jitterRatio * Math.random()));
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
