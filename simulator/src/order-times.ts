import type { SeededRandom } from "./random.ts";

/** The times of one order, as date-times in UTC with whole seconds. */
export interface OrderTimes {
  readonly openedAt: string;
  readonly closedAt: string;
  /** Returns the time at a share of the stay: 0 is the opening, 1 the closing. */
  at(share: number): string;
}

/** The shares of a stay at which each event happens. Products are ordered in the first half. */
export const guestStayShareByOrderEvent = {
  firstRound: 0,
  courses: 0.06,
  anotherRound: 0.3,
  desserts: 0.45,
  discount: 0.6,
  beforeBill: 0.65,
  split: 0.75,
  bill: 0.8,
  afterBill: 0.9,
  refusal: 0.905,
  payment: 0.95,
  end: 1,
} as const;

/** Returns an instant in milliseconds as a date-time in UTC, truncated to the second. */
export function toUtcDateTime(instantMs: number): string {
  return new Date(Math.floor(instantMs / 1000) * 1000).toISOString();
}

/** Returns the times of an order that is open between two instants. */
export function createOrderTimes(openedMs: number, closedMs: number): OrderTimes {
  const at = (share: number) => toUtcDateTime(openedMs + (closedMs - openedMs) * share);
  return { openedAt: at(0), closedAt: at(1), at };
}

/** Returns the times of an order that is opened at an instant, with a random length that fits its service. */
export function randomOrderTimes(
  random: SeededRandom,
  openedMs: number,
  service: keyof typeof stayMinutes,
): OrderTimes {
  const [shortest, longest] = stayMinutes[service];
  return createOrderTimes(openedMs, openedMs + random.integer(shortest * 60, longest * 60) * 1000);
}

/** Shortest and longest time from opening an order to closing it, in minutes. */
const stayMinutes = { eatin: [35, 85], takeout: [6, 20], delivery: [20, 45] } as const;

/** When something is canceled. Reports count cancellations after the bill was printed separately. */
export type CancellationTiming = (typeof cancellationTimings)[number];

const cancellationTimings = ["withoutBill", "beforeBill", "afterBill", "afterPayment"] as const;

/** Returns when the order with this index is canceled: canceled orders alternate between all timings. */
export function getOrderCancellationTiming(index: number): CancellationTiming {
  return cancellationTimings[index % 4] as CancellationTiming;
}

/** Returns when the row with this index is canceled: rows alternate between all timings except after payment. */
export function getRowCancellationTiming(index: number): CancellationTiming {
  return cancellationTimings[index % 3] as CancellationTiming;
}

/** Returns the date-time of a cancellation. */
export function getCancellationDateTime(times: OrderTimes, cancellation: CancellationTiming): string {
  if (cancellation === "afterPayment") return times.closedAt;
  return times.at(
    cancellation === "afterBill" ? guestStayShareByOrderEvent.afterBill : guestStayShareByOrderEvent.beforeBill,
  );
}

/** The reasons that clerks state for cancellations. */
export const cancellationReasons = ["Erreur de saisie", "Rupture", "Client parti"] as const;
