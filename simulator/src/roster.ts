import type { ClerkShift } from "@pragma/contracts/till-v2";
import { toDateTime } from "./order-times.ts";
import type { Random } from "./random.ts";
import type { Clerk } from "./restaurant.ts";
import type { ServiceDay } from "./service-day.ts";

const hour = 3_600_000;

/** Who works when. */
export class Roster {
  readonly #shifts: readonly Shift[];
  /** Opens and closes the till; is there all day. */
  readonly lead: Clerk;

  constructor(clerks: readonly Clerk[], day: ServiceDay) {
    const [lead] = clerks;
    if (!lead) throw new RangeError("A till needs a clerk");
    this.lead = lead;
    this.#shifts = clerks.flatMap((clerk, index) =>
      (rota[index % rota.length] ?? []).map(([from, to]) => ({
        clerk,
        from: day.opens + from * hour,
        to: to === null ? null : Math.min(day.closes, day.opens + to * hour),
      })),
    );
  }

  /** One of the clerks on shift at an instant. */
  onShift(random: Random, instant: number): Clerk {
    return random.pick(this.#shifts.filter((shift) => covers(shift, instant))).clerk;
  }

  /** One of the clerks not on shift at an instant, if there is one. */
  offShift(random: Random, instant: number): Clerk {
    const present = new Set(this.#shifts.filter((shift) => covers(shift, instant)).map(({ clerk }) => clerk));
    const absent = this.#shifts.filter(({ clerk }) => !present.has(clerk));
    return absent.length > 0 ? random.pick(absent).clerk : this.lead;
  }

  /** The shifts as a till lists them. */
  toList(): ClerkShift[] {
    return this.#shifts.map(({ clerk, from, to }) => ({
      id: clerk.id,
      name: clerk.name,
      clockInDate: toDateTime(from),
      clockOutDate: to === null ? null : toDateTime(to),
    }));
  }
}

interface Shift {
  clerk: Clerk;
  from: number;
  to: number | null;
}

function covers({ from, to }: Shift, instant: number): boolean {
  return from <= instant && (to === null || instant < to);
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
