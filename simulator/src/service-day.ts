import { Temporal } from "temporal-polyfill";
import type { OrderTimes } from "./order-times.ts";
import { orderTimes } from "./order-times.ts";
import type { Service } from "./plan-orders.ts";
import type { Random } from "./random.ts";

const minute = 60_000;
const hour = 60 * minute;

/** When the tills of a restaurant are opened, local time. */
const openingTime = "08:00";

/** From opening to closing. */
const openHours = 16.25;

/** A day of service, as instants in milliseconds. */
export interface ServiceDay {
  readonly opens: number;
  readonly closes: number;
}

/**
 * When the tills of a local day (YYYY-MM-DD) are opened, in milliseconds. Throws a RangeError for a day that does not
 * exist or a time zone that is not known.
 */
export function openingInstant(day: string, timeZone: string): number {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`Not a day written YYYY-MM-DD: ${day}`);
  return Temporal.PlainDate.from(day).toZonedDateTime({ timeZone, plainTime: openingTime }).epochMilliseconds;
}

/** The service of a local day; throws as `openingInstant` does. */
export function serviceDay(random: Random, day: string, timeZone: string): ServiceDay {
  const opens = openingInstant(day, timeZone);
  return { opens, closes: opens + openHours * hour + random.integer(0, 30) * minute };
}

/** When `count` guests sit down: most around noon and in the evening, some in between. Sorted. */
export function arrivals(random: Random, { opens, closes }: ServiceDay, count: number): number[] {
  const lastOrders = closes - 90 * minute;
  return Array.from({ length: count }, () => {
    const arrival = random.pickWeighted([
      [() => random.around(12.6 - 8, 0.6), 40],
      [() => random.around(20.2 - 8, 0.75), 45],
      [() => random.integer(0, 1500) / 100, 15],
    ])();
    return Math.min(lastOrders, Math.max(opens, opens + Math.round(arrival * hour)));
  }).sort((a, b) => a - b);
}

/** The moments of an order that is opened at an instant. */
export function stay(random: Random, opened: number, service: Service): OrderTimes {
  const [shortest, longest] = stays[service];
  return orderTimes(opened, opened + random.integer(shortest * 60, longest * 60) * 1000);
}

/** Minutes from opening an order to closing it. */
const stays: Record<Service, readonly [shortest: number, longest: number]> = {
  eatin: [35, 85],
  takeout: [6, 20],
  delivery: [20, 45],
};
