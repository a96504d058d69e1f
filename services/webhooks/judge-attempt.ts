import { nextAttemptAt, type RetrySchedule } from "./retry-schedule.ts";

/** What came of posting a message: a response, or the reason why there is none. */
export type Posted = { status: number; response: string; retryAfter: number | null } | { status: null; reason: string };

/** What an attempt means for its delivery. */
export interface Verdict {
  state: "succeeded" | "pending" | "failed";
  /** Why it failed, for whoever reads the log; null when it succeeded. */
  error: string | null;
  nextAttemptAt: Date | null;
  /** The endpoint says that it is there no more. */
  isGone: boolean;
}

interface Attempting {
  schedule: RetrySchedule;
  /** How many attempts have failed before. */
  failures: number;
  /** When the attempt ended. */
  at: Date;
  /** A test is made once. */
  isTest: boolean;
}

/** A response of 2xx is success, and 410 is the end; anything else, redirects too, is tried again as the schedule says. */
export function judgeAttempt(posted: Posted, { schedule, failures, at, isTest }: Attempting): Verdict {
  const { status } = posted;
  if (status !== null && status >= 200 && status < 300) {
    return { state: "succeeded", error: null, nextAttemptAt: null, isGone: false };
  }
  const isGone = status === 410;
  const retryAfter = status === null ? null : posted.retryAfter;
  const next = isGone || isTest ? null : nextAttemptAt(schedule, { failures: failures + 1, at, retryAfter });
  return { state: next ? "pending" : "failed", error: reasonOf(posted), nextAttemptAt: next, isGone };
}

function reasonOf(posted: Posted): string {
  if (posted.status === null) return posted.reason;
  const isRedirect = posted.status >= 300 && posted.status < 400;
  return `The endpoint answered ${posted.status}${isRedirect ? ": redirects are not followed" : ""}.`;
}
