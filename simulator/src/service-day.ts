import { defaultTimeZone } from "@pragma/contracts/time-zone";
import { Temporal } from "temporal-polyfill";
import type { SeededRandom } from "./random.ts";
import type { GeneratedRestaurantClerk } from "./restaurant.ts";

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;

export function getLocalDate(instant: number): Temporal.PlainDate {
  return Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(defaultTimeZone).toPlainDate();
}

export type SimulatedDayOpeningHours = ReturnType<typeof generateOpeningHours>;

/** Returns the opening hours of a day, YYYY-MM-DD, in milliseconds since 1970. @throws RangeError for an invalid day. */
export function generateOpeningHours(random: SeededRandom, day: string) {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(day)) throw new RangeError(`Invalid day (expected YYYY-MM-DD): ${day}`);
  const opening = Temporal.PlainDate.from(day).toZonedDateTime({ timeZone: defaultTimeZone, plainTime: "08:00" });
  const { epochMilliseconds: opensAtMs } = opening;
  return { opensAtMs, closesAtMs: opensAtMs + 16.25 * hourMs + random.integer(0, 30) * minuteMs };
}

/** Returns `count` sorted arrival times of guests. Most guests arrive at noon and in the evening. */
export function generateGuestArrivalTimes(
  random: SeededRandom,
  { opensAtMs, closesAtMs }: SimulatedDayOpeningHours,
  count: number,
): number[] {
  const lastOrderMs = closesAtMs - 90 * minuteMs;
  return Array.from({ length: count }, () => {
    const arrival = random.pickWeighted([
      [() => random.around(12.6 - 8, 0.6), 40],
      [() => random.around(20.2 - 8, 0.75), 45],
      [() => random.integer(0, 1500) / 100, 15],
    ])();
    return Math.min(lastOrderMs, Math.max(opensAtMs, opensAtMs + Math.round(arrival * hourMs)));
  }).sort((a, b) => a - b);
}

/** Returns shifts of clerks, in milliseconds since 1970. The end `to` is null if the clerk does not clock out. */
export function planSimulatedClerkShifts(
  clerks: readonly GeneratedRestaurantClerk[],
  { opensAtMs, closesAtMs }: SimulatedDayOpeningHours,
) {
  return clerks.flatMap((clerk, index) =>
    (clerkRota[index % clerkRota.length] ?? []).map(([from, to]) => ({
      clerk,
      from: opensAtMs + from * hourMs,
      to: to === null ? null : Math.min(closesAtMs, opensAtMs + to * hourMs),
    })),
  );
}

/** Returns a random clerk who is on shift at an instant, or who is off shift if `isOnShift` is false. */
export function pickClerkByShiftStatus(
  random: SeededRandom,
  shifts: ReturnType<typeof planSimulatedClerkShifts>,
  instant: number,
  isOnShift: boolean,
): GeneratedRestaurantClerk {
  const activeShifts = shifts.filter(({ from, to }) => from <= instant && (to === null || instant < to));
  const clerksOnShift = new Set(activeShifts.map(({ clerk }) => clerk));
  return random.pick(isOnShift ? activeShifts : shifts.filter(({ clerk }) => !clerksOnShift.has(clerk))).clerk;
}

/**
 * The shifts of each clerk, in hours after opening. The manager starts at the opening and never clocks out. One clerk
 * works two shifts. The others work at noon or in the evening, and one of them does not clock out.
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
