import { ApiError } from "@pragma/contracts/errors";
import { racePromiseWithAbort } from "@pragma/runtime/concurrency/race-promise-with-abort";
import { createRoundRobinQueue, type QueuePermit } from "@pragma/runtime/concurrency/round-robin-queue";

/** The right to hold large responses in memory. */
export interface LargeResponseTurn {
  /** Waits for the turn. Returns at once if it has already come. */
  take(): Promise<void>;
  /** Ends the turn. It cannot be taken again. */
  release(): void;
}

/**
 * Creates a limiter of the large responses that are in memory at a time, because a parsed response needs several times the
 * memory of its text. Keys, which are locations, take turns.
 */
export function createLargeResponseLimiter(limits: { maxActive: number; maxActivePerKey: number }) {
  const queue = createRoundRobinQueue(limits);
  return {
    /** Creates a turn, which counts once `take` was called. Its waits end when `signal` is aborted. */
    createTurn(key: string, signal: AbortSignal): LargeResponseTurn {
      let permit: QueuePermit | undefined;
      let isReleased = false;
      return {
        async take() {
          // A request that outlives its tool call would otherwise keep a permit for ever.
          if (isReleased) throw new ApiError("service_unavailable", { detail: "The tool call has ended." });
          permit ??= queue.requestPermit(key);
          if (!permit.isGranted) await racePromiseWithAbort(permit.granted, signal);
        },
        release() {
          isReleased = true;
          permit?.release();
        },
      };
    },
  };
}
