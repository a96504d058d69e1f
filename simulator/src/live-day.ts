import { maxLiveOrders } from "@pragma/contracts/order-live";
import type { GeneratedTill } from "./generate-till.ts";
import { type Revision, revisionsOf } from "./order-revisions.ts";

/** A day of service to be played: its orders as they come and go, and the till that they end in. */
export interface LiveDay {
  readonly till: GeneratedTill;
  /** Each with the instant at which it is due (milliseconds), sorted by it. */
  readonly revisions: readonly Revision[];
  /** When the till is closed, in milliseconds. */
  readonly closesAt: number;
  /** Whether its report gets the next number of the location's reports rather than the till's own. */
  readonly isNumberedLast: boolean;
}

/** When an instant of the till is played; both in milliseconds, the later one later. */
type Pace = (instant: number) => number;

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
  const moved = JSON.stringify(till).replace(dateTimesInUtc, (dateTime) =>
    new Date(Math.round(pace(Date.parse(dateTime)))).toISOString(),
  );
  return { ...recordedDay(JSON.parse(moved), (instant) => instant), isNumberedLast: true };
}

const dateTimesInUtc = /(?<=")\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z(?=")/g;

/** Takes the revisions that are due by now off a queue: of each order its next one, as many as one call may bring. */
export function nextBatch(queue: readonly Revision[], now: number): { batch: Revision[]; rest: Revision[] } {
  const firstLater = queue.findIndex(({ at }) => at > now);
  const due = firstLater < 0 ? queue : queue.slice(0, firstLater);
  const batch = new Map<string, Revision>();
  for (const revision of due)
    if (batch.size < maxLiveOrders && !batch.has(revision.order.id)) batch.set(revision.order.id, revision);
  const left = due.filter((revision) => batch.get(revision.order.id) !== revision);
  return { batch: [...batch.values()], rest: [...left, ...queue.slice(due.length)] };
}

/** The day for a player who joins it at an instant: of what happened before, each order's last revision only. */
export function joinDay(day: LiveDay, now: number): LiveDay {
  const past = day.revisions.filter(({ at }) => at <= now);
  const last = new Map(past.map((revision) => [revision.order.id, revision]));
  return {
    ...day,
    revisions: day.revisions.filter((revision) => revision.at > now || last.get(revision.order.id) === revision),
  };
}
