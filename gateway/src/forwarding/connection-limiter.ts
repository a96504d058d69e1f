import type { EventEmitter } from "node:events";
import { ApiError } from "@pragma/contracts/errors";
import { createRoundRobinQueue, type QueuePermit } from "@pragma/runtime/concurrency/round-robin-queue";
import { errors } from "undici";

interface ConnectionLimits {
  /** Maximum number of concurrent requests, in total and of one sender. */
  maxActive: number;
  maxActivePerSender: number;
  /** Maximum number of requests that wait for a permit, in total and of one sender. */
  maxWaiting: number;
  maxWaitingPerSender: number;
}

/** Limits the requests that occupy a connection to one service. Senders take turns, see `createRoundRobinQueue`. */
export function createConnectionLimiter({
  maxActive,
  maxActivePerSender,
  maxWaiting,
  maxWaitingPerSender,
}: ConnectionLimits) {
  const queue = createRoundRobinQueue({ maxActive, maxActivePerKey: maxActivePerSender });

  return {
    /**
     * Returns a function that releases the permit, once it is granted.
     *
     * @throws `ApiError` rate_limited if too many requests of the sender wait, and overloaded if those of all senders are
     * too many. @throws `RequestAbortedError` if `abort` emits `abort` first.
     */
    async acquire(sender: string, abort: EventEmitter): Promise<() => void> {
      const permit = queue.requestPermit(sender);
      if (!permit.isGranted) {
        try {
          if (queue.getWaitingCount(sender) > maxWaitingPerSender)
            throw createTooManyRequestsError(maxWaitingPerSender);
          if (queue.getWaitingCount() > maxWaiting) {
            throw new ApiError("overloaded", {
              detail: "Too many requests are waiting for this service. Retry shortly.",
            });
          }
          await waitUnlessAborted(permit, abort);
        } catch (error) {
          permit.release();
          throw error;
        }
      }
      return permit.release;
    },
  };
}

async function waitUnlessAborted({ granted }: QueuePermit, abort: EventEmitter): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new errors.RequestAbortedError());
    abort.once("abort", onAbort);
  });
  try {
    await Promise.race([granted, aborted]);
  } finally {
    abort.off("abort", onAbort);
  }
}

function createTooManyRequestsError(maximum: number): ApiError {
  return new ApiError("rate_limited", {
    detail: `More than ${maximum} requests of this location are waiting for this service. Send fewer requests at the same time.`,
    limit: { name: "waiting_requests", maximum, unit: "requests" },
    headers: { "retry-after": "2" },
  });
}
