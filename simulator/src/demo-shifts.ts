import { Random } from "./random.ts";

/** A till that the demo location opens and closes while people look on: a day of service in less time. */
export interface DemoShift {
  readonly tillId: string;
  /** When it is opened, and how long it lasts, in milliseconds. */
  readonly begins: number;
  readonly lasts: number;
}

/** The shift that one of these tills is of, if its time has not passed: it was broken off. */
export function brokenOffShift(locationId: string, now: number, tillIds: ReadonlySet<string>): DemoShift | undefined {
  return [shortShift, longShift]
    .flatMap((lasts) => beginningsWithin(lasts, now).map((begins) => shiftOf(locationId, begins, lasts)))
    .find(({ tillId }) => tillIds.has(tillId));
}

/** A shift that is at noon already, so that there is something to see. Its till is none of these, which have been. */
export function newShift(locationId: string, now: number, tillIds: ReadonlySet<string>): DemoShift {
  let begins = lastGridInstant(now) - headStart;
  while (tillIds.has(shiftOf(locationId, begins, shortShift).tillId)) begins -= grid;
  return shiftOf(locationId, begins, shortShift);
}

/**
 * The shift after another one, the count-th in a row. It follows at once, unless the other ended long ago, as after a
 * night in which the machine slept. The first ones are short; a demo that is left running for days opens two tills a
 * day, so that what it stores grows no faster than a restaurant's.
 */
export function shiftAfter(locationId: string, { begins, lasts }: DemoShift, count: number, now: number): DemoShift {
  const end = begins + lasts;
  const isLate = now > end + headStart;
  return shiftOf(locationId, isLate ? lastGridInstant(now) : end, count < shortShifts ? shortShift : longShift);
}

/** When in a shift an hour of its day is played, as a share of the shift: quiet hours pass quickly. */
export function shareOfShift(hour: number): number {
  const after = Math.max(
    1,
    dayCurve.findIndex(([until]) => until >= hour),
  );
  const [fromHour, fromShare] = dayCurve[after - 1] ?? [0, 0];
  const [toHour, toShare] = dayCurve[after] ?? [24, 1];
  return fromShare + ((hour - fromHour) / (toHour - fromHour)) * (toShare - fromShare);
}

function shiftOf(locationId: string, begins: number, lasts: number): DemoShift {
  return { tillId: new Random(`live/${locationId}/${begins}/${lasts}`).uuid(), begins, lasts };
}

function beginningsWithin(lasts: number, now: number): number[] {
  const newest = lastGridInstant(now);
  return Array.from({ length: lasts / grid + 1 }, (_, index) => newest - index * grid);
}

function lastGridInstant(now: number): number {
  return now - (now % grid);
}

const minute = 60_000;
/** Shifts begin at multiples of this, so that one can be found again by its till's id. */
const grid = 5 * minute;
const shortShift = 120 * minute;
const longShift = 720 * minute;
const shortShifts = 6;
/** How far the first shift of a demo is when it begins. */
const headStart = 20 * minute;

/** Hours after opening, and the share of the shift by which they are over; from breakfast to the last guests. */
const dayCurve: readonly (readonly [hour: number, share: number])[] = [
  [0, 0],
  [3.4, 0.04],
  [6.5, 0.44],
  [11, 0.49],
  [15, 0.94],
  [17, 0.985],
  [24, 1],
];
