import { ApiError } from "@pragma/contracts/errors";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { createRoundRobinQueue } from "@pragma/runtime/concurrency/round-robin-queue";
import { KeyedUsageCounter } from "@pragma/runtime/limits/keyed-counter";

/** The number of queries that a location, or an API key without a location, runs at a time. */
const maxActivePerLocation = 2;
/** Further queries of a location are rejected, because each waiting request occupies a connection of the gateway. */
const maxWaitingPerLocation = 16;
const maxWaitMs = 2_000;

/** Limits how many metrics queries run at a time in this process. */
export type MetricsLimiter = ReturnType<typeof createMetricsLimiter>;

/** Creates a limiter for `maxActive` queries. Locations take turns. */
export function createMetricsLimiter(maxActive: number) {
  const queue = createRoundRobinQueue({ maxActive, maxActivePerKey: maxActivePerLocation });
  const requests = new KeyedUsageCounter();
  let rejected = 0;

  function createLocationError(): ApiError {
    return new ApiError("rate_limited", {
      detail: `This location is sending too many metrics queries at the same time. ${maxActivePerLocation} run at a time, and up to ${maxWaitingPerLocation} wait for up to ${maxWaitMs / 1_000} seconds. Send fewer queries at the same time.`,
      limit: { name: "concurrent_metrics", maximum: maxActivePerLocation, unit: "requests" },
      headers: { "retry-after": "2" },
    });
  }

  return {
    /**
     * Runs a query when it is its turn. `senderId` is as `getSenderId` returns it. If `signal` is aborted, stops waiting.
     *
     * @throws `ApiError` rate_limited if the location has too many queries, and overloaded if all locations together have.
     */
    async run<T>(work: () => Promise<T>, { senderId, signal }: { senderId: string; signal: AbortSignal }): Promise<T> {
      const otherRequests = requests.get(senderId);
      if (otherRequests >= maxActivePerLocation + maxWaitingPerLocation) {
        rejected += 1;
        throw createLocationError();
      }
      requests.add(1, senderId);
      const permit = queue.requestPermit(senderId);
      try {
        if (!permit.isGranted) {
          await waitAtMost(maxWaitMs, racePromiseWithAbort(permit.granted, signal)).catch(() => {
            if (!signal.aborted) rejected += 1;
            if (otherRequests >= maxActivePerLocation) throw createLocationError();
            throw new ApiError("overloaded", { detail: "The server runs too many metrics queries. Retry shortly." });
          });
        }
        return await work();
      } finally {
        permit.release();
        requests.add(-1, senderId);
      }
    },
    /** Returns the number of queries that were rejected. */
    countRejected: () => rejected,
  };
}

/**
 * Returns a promise that settles like `promise`, but rejects after `timeoutMs`. `AbortSignal.any` with a signal of
 * `AbortSignal.timeout` would not do: Node.js 20 collects the latter, and the timeout never happens.
 */
async function waitAtMost<T>(timeoutMs: number, promise: Promise<T>): Promise<T> {
  const timeout = new AbortController();
  const timer = setTimeout(() => timeout.abort(), timeoutMs);
  try {
    return await racePromiseWithAbort(promise, timeout.signal);
  } finally {
    clearTimeout(timer);
  }
}
