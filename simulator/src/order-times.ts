import type { SeededRandom } from "./random.ts";

/** The times of one order, as date-times in UTC with whole seconds. */
export type SimulatedOrderTimes = ReturnType<typeof computeTimesOfSimulatedOrder>;

/** The share of the stay after which each event happens. Products are ordered in the first half. */
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
export function epochMsToUtcDateTime(instantMs: number): string {
  return new Date(Math.floor(instantMs / 1000) * 1000).toISOString();
}

export function computeTimesOfSimulatedOrder(openedMs: number, closedMs: number) {
  /** Returns the time after a share of the stay: 0 is the opening of the order, and 1 is the closing. */
  const at = (share: number) => epochMsToUtcDateTime(openedMs + (closedMs - openedMs) * share);
  return { openedAt: at(0), closedAt: at(1), at };
}

export function generateTimesOfSimulatedOrder(
  random: SeededRandom,
  openedMs: number,
  service: keyof typeof stayMinutes,
): SimulatedOrderTimes {
  const [shortest, longest] = stayMinutes[service];
  return computeTimesOfSimulatedOrder(openedMs, openedMs + random.integer(shortest * 60, longest * 60) * 1000);
}

/** The minimum and maximum time from the opening to the closing of an order, in minutes. */
const stayMinutes = { eatin: [35, 85], takeout: [6, 20], delivery: [20, 45] } as const;

const { beforeBill, afterBill, end } = guestStayShareByOrderEvent;

/** When an order or a row is canceled. Reports distinguish cancellations before and after the bill was printed. */
export const guestStayShareByCancellation = { withoutBill: beforeBill, beforeBill, afterBill, afterPayment: end };
type CancellationTiming = keyof typeof guestStayShareByCancellation;
const cancellationTimings = Object.keys(guestStayShareByCancellation) as CancellationTiming[];

/** Returns when the order or row with this index is canceled: by turns, at each timing. Rows only before the payment. */
export function pickCancellationTiming(kind: "order" | "row", index: number): CancellationTiming {
  return cancellationTimings[index % (kind === "order" ? 4 : 3)] as CancellationTiming;
}

export const simulatedCancellationReasons = ["Erreur de saisie", "Rupture", "Client parti"] as const;
