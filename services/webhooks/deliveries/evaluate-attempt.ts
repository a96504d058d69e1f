import { computeNextWebhookAttemptAt, type WebhookRetrySchedule } from "./retry-schedule.ts";

/** The response to a posted message, or the reason why there is no response. */
export type WebhookPostResult =
  | { status: number; response: string; retryAfterMs: number | null }
  | {
      status: null;
      reason: string;
      /** The IP addresses of the host that were tried, if no connection could be made, and the URL does not contain the address. */
      triedAddresses?: readonly string[];
    };

/** The effect of an attempt on its delivery. */
export interface WebhookAttemptEvaluation {
  state: "succeeded" | "pending" | "failed";
  /** Why the attempt failed, as shown to clients; null when the attempt succeeded. */
  error: string | null;
  nextAttemptAt: Date | null;
  /** Whether the endpoint responded with status 410. */
  isEndpointGone: boolean;
}

interface EvaluateAttemptOptions {
  schedule: WebhookRetrySchedule;
  /** Number of attempts that failed before this attempt. */
  failedAttempts: number;
  /** When the attempt ended. */
  endedAt: Date;
  /** Whether the message is a test, which is never retried. */
  isTest: boolean;
}

/**
 * Returns the effect of an attempt on its delivery. A response with status 2xx is a success, and 410 is a permanent
 * failure. After any other result, including a redirect, the message is retried according to the schedule, unless the
 * message is a test.
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
  const retryAt =
    isEndpointGone || isTest
      ? null
      : computeNextWebhookAttemptAt(schedule, { failedAttempts: failedAttempts + 1, failedAt: endedAt, retryAfterMs });
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
