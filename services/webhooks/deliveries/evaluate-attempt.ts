import { computeNextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

/** The response to a posted message, or the reason why there is none. */
export type WebhookPostResult =
  | { status: number; response: string; retryAfterMs: number | null }
  | { status: null; reason: string };

/** The effect of an attempt on its delivery. */
export interface DeliveryAttemptEvaluation {
  state: "succeeded" | "pending" | "failed";
  /** Why the attempt failed, as clients see it; null when it succeeded. */
  error: string | null;
  nextAttemptAt: Date | null;
  /** Whether the endpoint responded with status 410. */
  isEndpointGone: boolean;
}

interface EvaluateAttemptOptions {
  schedule: RetrySchedule;
  /** How many attempts have failed before this one. */
  failedAttempts: number;
  /** When the attempt ended. */
  endedAt: Date;
  /** Whether the message is a test, which is never retried. */
  isTest: boolean;
}

/**
 * Returns the effect of an attempt. A 2xx response is success and 410 is a permanent failure. Everything else,
 * including redirects, is retried by the schedule.
 */
export function evaluateDeliveryAttempt(
  postResult: WebhookPostResult,
  { schedule, failedAttempts, endedAt, isTest }: EvaluateAttemptOptions,
): DeliveryAttemptEvaluation {
  const { status } = postResult;
  if (status !== null && status >= 200 && status < 300) {
    return { state: "succeeded", error: null, nextAttemptAt: null, isEndpointGone: false };
  }
  const isEndpointGone = status === 410;
  const retryAfterMs = status === null ? null : postResult.retryAfterMs;
  const retryAt =
    isEndpointGone || isTest
      ? null
      : computeNextAttemptAt(schedule, { failedAttempts: failedAttempts + 1, failedAt: endedAt, retryAfterMs });
  return {
    state: retryAt ? "pending" : "failed",
    error: describePostFailure(postResult),
    nextAttemptAt: retryAt,
    isEndpointGone,
  };
}

function describePostFailure(postResult: WebhookPostResult): string {
  if (postResult.status === null) return postResult.reason;
  const isRedirect = postResult.status >= 300 && postResult.status < 400;
  return `The endpoint responded with status ${postResult.status}.${isRedirect ? " Redirects are not followed." : ""}`;
}
