import { ApiProblem } from "@pragma/client/api-problem";
import type { AdminClient, PublicClient } from "@pragma/client/create-client";
import { listsOf } from "@pragma/client/pages";
import { waitFor } from "@pragma/client/retrying-fetch";
import { NoReply, UnexpectedReply } from "@pragma/client/unanswered";
import { explain } from "./explain.ts";

/** What time it is, and waiting: tests have one of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits so many milliseconds; rejects with the signal's reason once that is given. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = { now: () => Date.now(), wait: waitFor };

interface RetryOptions {
  clock: Clock;
  /** Once given, its reason is thrown. */
  signal: AbortSignal;
  say: (line: string) => void;
}

/** The same client, but each call is made as `retryTransient` makes it. */
export function retryingClient<Client extends PublicClient | AdminClient>(client: Client, options: RetryOptions) {
  type AnyCall = (path: string, init?: object) => Promise<unknown>;
  const retrying = (call: AnyCall): AnyCall => {
    return (path, init) => retryTransient(options, (signal) => call(path, { ...init, signal }));
  };
  const { GET, POST, PUT, PATCH, DELETE } = client as unknown as Record<string, AnyCall>;
  const calls = Object.entries({ GET, POST, PUT, PATCH, DELETE });
  const retried = Object.fromEntries(calls.map(([method, call]) => [method, retrying(call as AnyCall)]));
  return { ...retried, ...listsOf(retried.GET as unknown as PublicClient["GET"]) } as unknown as Client;
}

/**
 * Makes a call to the API until it is answered: while nothing answers, and after a reply that stands for a transient
 * state, it is made again, for as long as it takes. Other refusals are thrown. The call is given a signal of its own.
 */
export async function retryTransient<Result>(
  { clock, signal, say }: RetryOptions,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await abortable(signal, call);
      if (attempt > 0) say("The API answers again");
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (!isTransient(error)) throw error;
      if (attempt === 0) say(`The API does not answer, trying again: ${explain(error)}`);
      await clock.wait(Math.min(maxBackoffMs, minBackoffMs * 2 ** attempt), signal);
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

function isTransient(error: unknown): boolean {
  if (error instanceof NoReply) return true;
  const isReply = error instanceof ApiProblem || error instanceof UnexpectedReply;
  return isReply && (error.status === 429 || error.status >= 500);
}

/** The client has tried again by itself before. */
const minBackoffMs = 1_000;
const maxBackoffMs = 15_000;
