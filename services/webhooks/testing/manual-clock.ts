import type { Clock } from "../context.ts";

/** A clock that stands still until it is moved on. */
export interface ManualClock {
  clock: Clock;
  /** Milliseconds. */
  advance(milliseconds: number): void;
}

export function createManualClock(start = "2026-05-29T10:00:00.000Z"): ManualClock {
  let now = Date.parse(start);
  return {
    clock: () => new Date(now),
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

export const secondMs = 1_000;
export const minuteMs = 60 * secondMs;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;
