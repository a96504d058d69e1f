import { Temporal } from "temporal-polyfill";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { Random } from "./random.ts";
import { localDay, openingInstant } from "./service-day.ts";

/** The time zone of the demo location. */
export const demoTimeZone = "Europe/Paris";

/** The seed of the demo location's restaurant. */
export const demoRestaurant = "demo";

const demoDays = 30;

/** One day of the demo location. */
export interface DemoDay {
  /** YYYY-MM-DD, in the location's time zone. */
  readonly day: string;
  readonly tillId: string;
  /** When its till is opened, in milliseconds: a report's `startedAt`. */
  readonly startsAt: number;
}

/** The thirty days of a location that end yesterday, oldest first. */
export function daysUntilYesterday(locationId: string, now: Date): DemoDay[] {
  const today = localDay(now.getTime(), demoTimeZone);
  return Array.from({ length: demoDays }, (_, index) => {
    const day = today.subtract({ days: demoDays - index }).toString();
    return { day, tillId: randomOf(locationId, day).uuid(), startsAt: openingInstant(day, demoTimeZone) };
  });
}

/** The till of a day: 40 to 80 orders, most on Fridays and at the weekend. Always the same for a location and a day. */
export function demoTill(locationId: string, { day, tillId }: DemoDay) {
  const isBusy = Temporal.PlainDate.from(day).dayOfWeek >= 5;
  const orders = randomOf(locationId, day)
    .fork("orders")
    .integer(isBusy ? 60 : 40, isBusy ? 80 : 60);
  return generateTill({ seed: demoRestaurant, orders, day, timeZone: demoTimeZone, tillId });
}

/** The day of the demo's restaurant that the documentation draws: a Saturday. */
export const drawnDay = "2026-05-30";

/** The till of the demo's restaurant on a day, as the documentation shows it: always the same, whenever it is made. */
export function exampleTill(day: string): GeneratedTill {
  return generateTill({ seed: demoRestaurant, orders: 60, day, timeZone: demoTimeZone });
}

function randomOf(locationId: string, day: string): Random {
  return new Random(`demo/${locationId}/${day}`);
}
