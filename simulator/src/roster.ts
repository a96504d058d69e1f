import type { Random } from "./random.ts";
import type { Clerk } from "./restaurant.ts";
import type { ServiceDay } from "./service-day.ts";

const hour = 3_600_000;

/** When a clerk works, in milliseconds; one whose shift has no end leaves without clocking out. */
interface Shift {
  clerk: Clerk;
  from: number;
  to: number | null;
}

/** Who works when on a day. */
export function shiftsOf(clerks: readonly Clerk[], { opens, closes }: ServiceDay): Shift[] {
  return clerks.flatMap((clerk, index) =>
    (rota[index % rota.length] ?? []).map(([from, to]) => ({
      clerk,
      from: opens + from * hour,
      to: to === null ? null : Math.min(closes, opens + to * hour),
    })),
  );
}

/** One of the clerks who are on shift at an instant, or of those who are not. */
export function pickClerk(random: Random, shifts: readonly Shift[], instant: number, isOnShift: boolean): Clerk {
  const present = shifts.filter(({ from, to }) => from <= instant && (to === null || instant < to));
  const clerks = new Set(present.map(({ clerk }) => clerk));
  return random.pick(isOnShift ? present : shifts.filter(({ clerk }) => !clerks.has(clerk))).clerk;
}

/**
 * The shifts of each clerk, in hours after opening: the lead is there from opening and never clocks out, one works a
 * split day, others noon or evening, and one of them leaves without clocking out.
 */
const rota: readonly (readonly (readonly [from: number, to: number | null])[])[] = [
  [[0, null]],
  [
    [2, 7],
    [10, 16.75],
  ],
  [[2.5, 8]],
  [[9.5, 16.75]],
  [[10, null]],
];
