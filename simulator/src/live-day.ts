import type { GeneratedTill } from "./generate-till.ts";
import { type Revision, revisionsOf } from "./order-revisions.ts";
import { retimeTill } from "./retime-till.ts";

/** A day of service to be played, its orders as they come and go, and the till that they end in. */
export interface LiveDay {
  readonly till: GeneratedTill;
  /** Each with the instant on the wall's clock at which it is due, sorted by it. */
  readonly revisions: readonly Revision[];
  /** When the till is closed, on the wall's clock, in milliseconds. */
  readonly closesAt: number;
  /** Whether its report gets the next number of the location's reports rather than the till's own. */
  readonly isNumberedLast: boolean;
}

/** When on the wall's clock an instant of the till is played; both in milliseconds. */
export type Pace = (instant: number) => number;

/** A till's day played from an instant on, so many times as fast as it was. */
export function steadyPace({ startedAt }: GeneratedTill, { begins, speed }: { begins: number; speed: number }): Pace {
  const opens = Date.parse(startedAt);
  return (instant) => begins + (instant - opens) / speed;
}

/** A day whose orders and till carry the times of the till, whenever they are played. */
export function recordedDay(till: GeneratedTill, pace: Pace): LiveDay {
  return {
    till,
    revisions: revisionsOf(till).map(({ at, order }) => ({ at: pace(at), order })),
    closesAt: pace(Date.parse(till.finalizedAt)),
    isNumberedLast: false,
  };
}

/** A day whose orders and till carry the times at which they are played. */
export function presentDay(till: GeneratedTill, pace: Pace): LiveDay {
  return { ...recordedDay(retimeTill(till, pace), (instant) => instant), isNumberedLast: true };
}
