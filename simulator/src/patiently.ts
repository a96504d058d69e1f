import { ApiProblem } from "@pragma/client/api-problem";
import { NoReply, UnexpectedReply } from "@pragma/client/unanswered";
import type { Clock } from "./clock.ts";
import { explain } from "./explain.ts";

interface Patience {
  clock: Clock;
  /** Once given, its reason is thrown. */
  signal: AbortSignal;
  say: (line: string) => void;
}

/**
 * Makes a call to the API until it is answered: while nobody answers, and after a reply that stands for a passing state,
 * it is made again, for as long as it takes. Other refusals are thrown. The call is given a signal of its own.
 */
export async function patiently<Result>(
  { clock, signal, say }: Patience,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await abortable(signal, call);
      if (attempt > 0) say("The API answers again");
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isPassing(error)) throw error;
      if (attempt === 0) say(`The API does not answer, trying again: ${explain(error)}`);
      await clock.wait(Math.min(longestPause, firstPause * 2 ** attempt), signal);
    }
  }
}

/** What listens to a signal that lives for weeks is kept for weeks: each call listens to one that goes with it. */
async function abortable<Result>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  signal.throwIfAborted();
  const own = new AbortController();
  const abort = () => own.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await call(own.signal);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof NoReply) return true;
  const isReply = error instanceof ApiProblem || error instanceof UnexpectedReply;
  return isReply && (error.status === 429 || error.status >= 500);
}

/** Milliseconds; the client has tried again by itself before. */
const firstPause = 1_000;
const longestPause = 15_000;
