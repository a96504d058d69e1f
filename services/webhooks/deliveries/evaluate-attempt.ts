import { computeNextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

/** What came of posting a message: a response, or the reason why there is none. */
export type WebhookPostResult =
  | { status: number; response: string; retryAfterMs: number | null }
  | { status: null; reason: string };

/** What an attempt means for its delivery. */
export interface DeliveryAttemptEvaluation {
  state: "succeeded" | "pending" | "failed";
  /** Why it failed, for whoever reads the log; null when it succeeded. */
  error: string | null;
  nextAttemptAt: Date | null;
  /** The endpoint says that it is there no more. */
  isEndpointGone: boolean;
}

interface EvaluateAttemptOptions {
  schedule: RetrySchedule;
  /** How many attempts have failed before. */
  failedAttempts: number;
  /** When the attempt ended. */
  endedAt: Date;
  /** A test is made once. */
  isTest: boolean;
}

/** A response of 2xx is success, and 410 is the end; anything else, redirects too, is tried again as the schedule says. */
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
  return `The endpoint answered ${postResult.status}${isRedirect ? ": redirects are not followed" : ""}.`;
}
