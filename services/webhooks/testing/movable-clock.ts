import type { Clock } from "../webhooks.ts";

/** A clock that stands still until it is moved on. */
export interface MovableClock {
  clock: Clock;
  /** Milliseconds. */
  advance(milliseconds: number): void;
}

export function movableClock(start = "2026-05-29T10:00:00.000Z"): MovableClock {
  let now = Date.parse(start);
  return {
    clock: () => new Date(now),
    advance(milliseconds) {
      now += milliseconds;
    },
  };
}

export const second = 1_000;
export const minute = 60 * second;
export const hour = 60 * minute;
export const day = 24 * hour;
