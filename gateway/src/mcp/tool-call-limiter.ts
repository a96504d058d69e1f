import { ApiError } from "@pragma/contracts/errors";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { createRoundRobinQueue } from "@pragma/runtime/concurrency/round-robin-queue";

interface ToolCallLimits {
  concurrentCalls: number;
  concurrentCallsPerLocation: number;
  waitingCalls: number;
  waitingCallsPerLocation: number;
}

/** Creates a limiter of the tool calls that run at a time in this process. Locations take turns. */
export function createToolCallLimiter(limits: ToolCallLimits) {
  const queue = createRoundRobinQueue({
    maxActive: limits.concurrentCalls,
    maxActivePerKey: limits.concurrentCallsPerLocation,
  });
  return {
    /**
     * Runs a call when it is its turn. `senderId` is as `getSenderId` returns it. If `signal` is aborted, stops waiting.
     *
     * @throws `ApiError` rate_limited or overloaded if too many calls wait, of the location or of all together.
     */
    async run<T>(call: () => Promise<T>, { senderId, signal }: { senderId: string; signal: AbortSignal }): Promise<T> {
      if (queue.getWaitingCount(senderId) >= limits.waitingCallsPerLocation) {
        throw new ApiError("rate_limited", {
          detail: `Too many tool calls at a time: ${limits.concurrentCallsPerLocation} of this location run, and ${limits.waitingCallsPerLocation} wait. Send fewer at a time.`,
          headers: { "retry-after": "2" },
        });
      }
      if (queue.getWaitingCount() >= limits.waitingCalls)
        throw new ApiError("overloaded", { detail: "The server runs too many tool calls at a time." });
      const permit = queue.requestPermit(senderId);
      try {
        if (!permit.isGranted) await racePromiseWithAbort(permit.granted, signal);
        return await call();
      } finally {
        permit.release();
      }
    },
  };
}
