import { Temporal } from "temporal-polyfill";
import type { Random } from "./random.ts";
import type { Clerk } from "./restaurant.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

/** When the tills of a restaurant are opened, local time. */
const openingTime = "08:00";

/** From opening to closing. */
const openingDurationHours = 16.25;

/** The date of an instant (milliseconds) in a time zone. */
export function localDateAt(instant: number, timeZone: string): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone).toPlainDate();
}

/** A day of service, as instants in milliseconds. */
export interface ServiceDay {
  readonly opensAt: number;
  readonly closesAt: number;
}

/** The moments of one order, as date-times in UTC with whole seconds. */
export interface OrderTimes {
  readonly openedAt: string;
  readonly closedAt: string;
  /** A moment of the stay: 0 is the opening, 1 the closing. */
  at(share: number): string;
}

/** The shares of a stay at which things happen. Products are ordered in its first half. */
export const stayMoments = {
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

/**
 * When the tills of a local day (YYYY-MM-DD) are opened, in milliseconds. Throws a RangeError for a day that does not
 * exist or a time zone that is not known.
 */
export function openingTimeMs(day: string, timeZone: string): number {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`Not a day written YYYY-MM-DD: ${day}`);
  return Temporal.PlainDate.from(day).toZonedDateTime({ timeZone, plainTime: openingTime }).epochMilliseconds;
}

/** The service of a local day; throws as `openingInstant` does. */
export function generateServiceDay(random: Random, day: string, timeZone: string): ServiceDay {
  const opensAt = openingTimeMs(day, timeZone);
  return { opensAt, closesAt: opensAt + openingDurationHours * hourMs + random.integer(0, 30) * minuteMs };
}

/** When `count` guests sit down: most around noon and in the evening, some in between. Sorted. */
export function generateArrivalTimes(random: Random, { opensAt, closesAt }: ServiceDay, count: number): number[] {
  const lastOrders = closesAt - 90 * minuteMs;
  return Array.from({ length: count }, () => {
    const arrival = random.pickWeighted([
      [() => random.around(12.6 - 8, 0.6), 40],
      [() => random.around(20.2 - 8, 0.75), 45],
      [() => random.integer(0, 1500) / 100, 15],
    ])();
    return Math.min(lastOrders, Math.max(opensAt, opensAt + Math.round(arrival * hourMs)));
  }).sort((a, b) => a - b);
}

/** The moments of an order that is open between two instants (milliseconds). */
export function createOrderTimes(opened: number, closed: number): OrderTimes {
  const at = (share: number) => toUtcDateTime(opened + (closed - opened) * share);
  return { openedAt: at(0), closedAt: at(1), at };
}

/** The moments of an order that is opened at an instant. */
export function randomOrderTimes(random: Random, opened: number, service: keyof typeof stayMinutes): OrderTimes {
  const [shortest, longest] = stayMinutes[service];
  return createOrderTimes(opened, opened + random.integer(shortest * 60, longest * 60) * 1000);
}

/** Minutes from opening an order to closing it. */
const stayMinutes = { eatin: [35, 85], takeout: [6, 20], delivery: [20, 45] } as const;

/** The date-time in UTC of an instant (milliseconds), cut to the second. */
export function toUtcDateTime(instant: number): string {
  return new Date(Math.floor(instant / 1000) * 1000).toISOString();
}

/** When a clerk works, in milliseconds; one whose shift has no end leaves without clocking out. */
interface ClerkShift {
  clerk: Clerk;
  from: number;
  to: number | null;
}

/** Who works when on a day. */
export function planClerkShifts(clerks: readonly Clerk[], { opensAt, closesAt }: ServiceDay): ClerkShift[] {
  return clerks.flatMap((clerk, index) =>
    (clerkRota[index % clerkRota.length] ?? []).map(([from, to]) => ({
      clerk,
      from: opensAt + from * hourMs,
      to: to === null ? null : Math.min(closesAt, opensAt + to * hourMs),
    })),
  );
}

/** One of the clerks who are on shift at an instant, or of those who are not. */
export function pickClerk(random: Random, shifts: readonly ClerkShift[], instant: number, isOnShift: boolean): Clerk {
  const present = shifts.filter(({ from, to }) => from <= instant && (to === null || instant < to));
  const clerks = new Set(present.map(({ clerk }) => clerk));
  return random.pick(isOnShift ? present : shifts.filter(({ clerk }) => !clerks.has(clerk))).clerk;
}

/**
 * The shifts of each clerk, in hours after opening: the lead is there from opening and never clocks out, one works a
 * split day, others noon or evening, and one of them leaves without clocking out.
 */
const clerkRota: readonly (readonly (readonly [from: number, to: number | null])[])[] = [
  [[0, null]],
  [
    [2, 7],
    [10, 16.75],
  ],
  [[2.5, 8]],
  [[9.5, 16.75]],
  [[10, null]],
];

/** When something is canceled: what is canceled after the bill was printed is reported apart. */
export type CancellationTiming = (typeof cancellationTimings)[number];

const cancellationTimings = ["withoutBill", "beforeBill", "afterBill", "afterPayment"] as const;

/** Canceled orders take turns in when. */
export function orderCancellationTiming(index: number): CancellationTiming {
  return cancellationTimings[index % 4] as CancellationTiming;
}

/** Canceled rows take turns in when; a row is not canceled once it was paid. */
export function rowCancellationTiming(index: number): CancellationTiming {
  return cancellationTimings[index % 3] as CancellationTiming;
}

export function cancellationDateTime(times: OrderTimes, cancellation: CancellationTiming): string {
  if (cancellation === "afterPayment") return times.closedAt;
  return times.at(cancellation === "afterBill" ? stayMoments.afterBill : stayMoments.beforeBill);
}

/** Why clerks cancel. */
export const cancellationReasons = ["Erreur de saisie", "Rupture", "Client parti"] as const;
