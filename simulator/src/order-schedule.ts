import { maxLiveOrdersPerRequest } from "@pragma/contracts/order-live";
import type { GeneratedTill } from "./generate-till.ts";
import { generateOrderRevisions, type OrderRevision } from "./order-revisions.ts";

/** A simulated day of service: the revisions of its orders, and the till that contains the orders in the end. */
export interface OrderSchedule {
  readonly till: GeneratedTill;
  /** Sorted by the time at which they are due. */
  readonly revisions: readonly OrderRevision[];
  /** When the till is closed, in milliseconds since 1970. */
  readonly closesAtMs: number;
  /** Whether the till gets the location's next report number instead of its generated one. */
  readonly shouldUseNextReportNumber: boolean;
}

/** Maps an instant of the till to its simulated instant, in milliseconds. The function is increasing. */
type InstantMapping = (instantMs: number) => number;

/** Returns the schedule of a day whose orders and till keep the original times of the till. */
export function scheduleAtOriginalTimes(till: GeneratedTill, toSimulatedMs: InstantMapping): OrderSchedule {
  return {
    till,
    revisions: generateOrderRevisions(till).map(({ atMs, order }) => ({ atMs: toSimulatedMs(atMs), order })),
    closesAtMs: toSimulatedMs(Date.parse(till.finalizedAt)),
    shouldUseNextReportNumber: false,
  };
}

/** Returns the schedule of a day whose orders and till carry the times of the simulation. */
export function scheduleAtSimulatedTimes(till: GeneratedTill, toSimulatedMs: InstantMapping): OrderSchedule {
  const shiftedJson = JSON.stringify(till).replace(utcDateTimePattern, (dateTime) =>
    new Date(Math.round(toSimulatedMs(Date.parse(dateTime)))).toISOString(),
  );
  return {
    ...scheduleAtOriginalTimes(JSON.parse(shiftedJson), (instantMs) => instantMs),
    shouldUseNextReportNumber: true,
  };
}

const utcDateTimePattern = /(?<=")\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z(?=")/g;

/**
 * Takes due revisions from a queue: the next one of each order, up to the maximum of one request. Returns them with the
 * rest of the queue.
 */
export function takeDueOrderRevisions(
  queue: readonly OrderRevision[],
  nowMs: number,
): { batch: OrderRevision[]; rest: OrderRevision[] } {
  const firstLaterIndex = queue.findIndex(({ atMs }) => atMs > nowMs);
  const due = firstLaterIndex < 0 ? queue : queue.slice(0, firstLaterIndex);
  const batch = new Map<string, OrderRevision>();
  for (const revision of due)
    if (batch.size < maxLiveOrdersPerRequest && !batch.has(revision.order.id)) batch.set(revision.order.id, revision);
  const postponed = due.filter((revision) => batch.get(revision.order.id) !== revision);
  return { batch: [...batch.values()], rest: [...postponed, ...queue.slice(due.length)] };
}

/** Returns the schedule to resume at an instant: of the earlier revisions it keeps only the last one of each order. */
export function resumeOrderScheduleAt(schedule: OrderSchedule, nowMs: number): OrderSchedule {
  const pastRevisions = schedule.revisions.filter(({ atMs }) => atMs <= nowMs);
  const lastByOrderId = new Map(pastRevisions.map((revision) => [revision.order.id, revision]));
  return {
    ...schedule,
    revisions: schedule.revisions.filter(
      (revision) => revision.atMs > nowMs || lastByOrderId.get(revision.order.id) === revision,
    ),
  };
}
