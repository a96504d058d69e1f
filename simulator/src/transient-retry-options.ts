import type { ApiClientOptions } from "@pragma/client/api-client";
import { abortableDelay } from "@pragma/client/retrying-fetch";
import { formatErrorWithCauses } from "./run-until-stopped.ts";

/** What time it is, and waiting: tests have one of their own. */
export interface SimulationClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits so many milliseconds; rejects with the signal's reason once that is given. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: SimulationClock = { now: () => Date.now(), wait: abortableDelay };

interface TransientRetryOptions {
  clock: SimulationClock;
  /** Once given, no call is made again, and one in flight is aborted. */
  signal: AbortSignal;
  log: (line: string) => void;
  /** Sends a request; the built-in `fetch`, under the signal, unless given. */
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * Options of a client that asks again until the API answers: while nothing answers, and after a reply that stands for a
 * transient state, for as long as it takes. An outage is logged when it has lasted some time, and when it is over.
 */
export function createTransientRetryOptions(options: TransientRetryOptions) {
  const { clock, signal, log, fetch: send = (request) => fetch(request, { signal }) } = options;
  let waitedMs = 0;
  let reason = "";
  return {
    retries: Number.POSITIVE_INFINITY,
    async wait(milliseconds) {
      const isKnown = waitedMs > loggedOutageMs;
      waitedMs += milliseconds;
      if (!isKnown && waitedMs > loggedOutageMs) log(`The API does not answer, trying again: ${reason}`);
      await clock.wait(milliseconds, signal);
    },
    async fetch(request) {
      const response = await send(request).catch((error: unknown) => {
        reason = `${request.url} got no reply: ${formatErrorWithCauses(error)}`;
        throw error;
      });
      reason = `${request.url} answered ${response.status}`;
      // What the client would not ask again: after an error of the API's own, and when the API asks for a long wait.
      if (response.status === 500 || Number(response.headers.get("retry-after")) > 60) {
        await response.body?.cancel();
        throw new Error(reason);
      }
      if (response.status === 429 || response.status >= 500) return response;
      if (waitedMs > loggedOutageMs) log("The API answers again");
      waitedMs = 0;
      return response;
    },
  } satisfies Partial<ApiClientOptions>;
}

/** How long the API has to be silent, or busy, before that is logged. */
const loggedOutageMs = 10_000;
