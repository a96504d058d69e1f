import type { ApiClientOptions } from "@pragma/client/api-client";
import { abortableDelay } from "@pragma/client/retrying-fetch";
import { formatErrorWithCauses } from "./run-until-stopped.ts";

export interface InjectableClock {
  now(): number;
  /** Resolves after `milliseconds`. Rejects with the signal's reason when the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: InjectableClock = { now: () => Date.now(), wait: abortableDelay };

export interface SimulationControl {
  readonly clock: InjectableClock;
  /** After it is aborted, waits throw its reason, and requests throw an error with this `cause`. */
  readonly signal: AbortSignal;
  readonly log: (line: string) => void;
}

/**
 * Returns options to retry transient errors without limit. Logs the start and the end of an outage of ten seconds. The signal
 * ends retries, and requests in flight, unless `fetch` is set.
 */
export function createRetryOptions(options: SimulationControl & Pick<ApiClientOptions, "fetch">) {
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
      if (response.status === 429 || response.status >= 500) return response;
      if (waitedMs > loggedOutageMs) log("The API is available again");
      waitedMs = 0;
      return response;
    },
  } satisfies Partial<ApiClientOptions>;
}

const loggedOutageMs = 10_000;
