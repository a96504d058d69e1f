import { waitFor } from "@pragma/client/retrying-fetch";

/** What time it is, and waiting: tests have one of their own. */
export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Waits so many milliseconds; rejects with the signal's reason once that is given. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>;
}

/** The clock on the wall. */
export const wallClock: Clock = { now: () => Date.now(), wait: waitFor };
