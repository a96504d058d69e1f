import { maxLiveOrdersPerRequest } from "@pragma/contracts/order-live";
import type { GeneratedTill } from "./generate-till.ts";
import { generateRevisionsOfTillOrders, type SimulatedOrderRevision } from "./order-revisions.ts";

/** A simulated day of service: the revisions of its orders, and the till with the final orders. */
export interface SimulatedDay {
  readonly till: GeneratedTill;
  /** The revisions of all orders, sorted by the time at which they are to be sent. */
  readonly revisions: readonly SimulatedOrderRevision[];
  /** The time at which the till is closed, in milliseconds since 1970. */
  readonly closesAtMs: number;
}

/** Returns the simulated instant for an instant of the till, both in milliseconds since 1970. Must be increasing. */
type InstantMapping = (instantMs: number) => number;

/** Returns the schedule of a day. The date-times in its orders and till are replaced with simulated date-times. */
export function createSimulatedSchedule(generated: GeneratedTill, toSimulatedMs: InstantMapping): SimulatedDay {
  const shiftedJson = JSON.stringify(generated).replace(utcDateTimePattern, (dateTime) =>
    new Date(Math.round(toSimulatedMs(Date.parse(dateTime)))).toISOString(),
  );
  const till: GeneratedTill = JSON.parse(shiftedJson);
  return { till, revisions: generateRevisionsOfTillOrders(till), closesAtMs: Date.parse(till.finalizedAt) };
}

const utcDateTimePattern = /(?<=")\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z(?=")/g;

/**
 * Returns the next batch of due revisions, and the remaining queue. A batch contains at most one revision of an order,
 * and at most as many revisions as one request can contain.
 */
export function splitDueRevisions(
  queue: readonly SimulatedOrderRevision[],
  nowMs: number,
): { batch: SimulatedOrderRevision[]; rest: SimulatedOrderRevision[] } {
  const firstLaterIndex = queue.findIndex(({ atMs }) => atMs > nowMs);
  const due = firstLaterIndex < 0 ? queue : queue.slice(0, firstLaterIndex);
  const batch = new Map<string, SimulatedOrderRevision>();
  for (const revision of due)
    if (batch.size < maxLiveOrdersPerRequest && !batch.has(revision.order.id)) batch.set(revision.order.id, revision);
  const postponed = due.filter((revision) => batch.get(revision.order.id) !== revision);
  return { batch: [...batch.values()], rest: [...postponed, ...queue.slice(due.length)] };
}

/** Returns a schedule without past revisions, except for the last past revision of each order. */
export function omitSupersededRevisions(schedule: SimulatedDay, nowMs: number): SimulatedDay {
  const pastRevisions = schedule.revisions.filter(({ atMs }) => atMs <= nowMs);
  const lastByOrderId = new Map(pastRevisions.map((revision) => [revision.order.id, revision]));
  return {
    ...schedule,
    revisions: schedule.revisions.filter(
      (revision) => revision.atMs > nowMs || lastByOrderId.get(revision.order.id) === revision,
    ),
  };
}
