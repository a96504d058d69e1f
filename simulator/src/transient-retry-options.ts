import type { ApiClientOptions } from "@pragma/client/api-client";
import { abortableDelay } from "@pragma/client/retrying-fetch";
import { formatErrorWithCauses } from "./run-until-stopped.ts";

/** The time and waiting, which tests replace. */
export interface SimulationClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits for `milliseconds`. Rejects with the signal's reason once the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: SimulationClock = { now: () => Date.now(), wait: abortableDelay };

interface TransientRetryOptions {
  clock: SimulationClock;
  /** Ends retries and aborts requests in flight. */
  signal: AbortSignal;
  log: (line: string) => void;
  /** Sends a request. The default is the built-in `fetch` with the signal. */
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * Returns options of an API client that retries without limit while the API is unreachable or responds with a transient
 * error. Logs an outage once it has lasted ten seconds, and its end.
 */
export function createTransientRetryOptions(options: TransientRetryOptions) {
  const { clock, signal, log, fetch: send = (request) => fetch(request, { signal }) } = options;
  let waitedMs = 0;
  let reason = "";
  return {
    retries: Number.POSITIVE_INFINITY,
    async wait(milliseconds) {
      const isLogged = waitedMs > loggedOutageMs;
      waitedMs += milliseconds;
      if (!isLogged && waitedMs > loggedOutageMs) log(`The API is unavailable, retrying: ${reason}`);
      await clock.wait(milliseconds, signal);
    },
    async fetch(request) {
      const response = await send(request).catch((error: unknown) => {
        reason = `${request.url} got no response: ${formatErrorWithCauses(error)}`;
        throw error;
      });
      reason = `${request.url} responded with status ${response.status}`;
      // The client itself does not retry these responses: internal errors, and long waits. A thrown error is retried.
      if (response.status === 500 || Number(response.headers.get("retry-after")) > 60) {
        await response.body?.cancel();
        throw new Error(reason);
      }
      if (response.status === 429 || response.status >= 500) return response;
      if (waitedMs > loggedOutageMs) log("The API is available again");
      waitedMs = 0;
      return response;
    },
  } satisfies Partial<ApiClientOptions>;
}

/** How long an outage must last before it is logged. */
const loggedOutageMs = 10_000;
