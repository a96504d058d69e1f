import type { OrderData } from "@pragma/contracts/order-data";
import { demoRestaurantSeed } from "./demo-location.ts";
import { generateTill } from "./generate-till.ts";
import { joinScheduleAt, type OrderSchedule, scheduleAtPlayedTimes } from "./order-revisions.ts";
import { Random } from "./random.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { localDateAt } from "./service-day.ts";
import { closeInterruptedTills, findDeviceLiveOrders, type SimulationContext, simulateDay } from "./simulate-day.ts";

/** A till that the demo location opens and closes while people look on: a day of service in less time. */
export interface DemoShift {
  readonly tillId: string;
  /** When it is opened, and how long it lasts, in milliseconds. */
  readonly startsAt: number;
  readonly durationMs: number;
}

/** What the shifts of a location depend on. */
type ShiftContext = Pick<SimulationContext, "locationId" | "timeZone" | "clock">;

/**
 * Keeps the live orders of the demo location moving until the signal is given: one shift after the other, each ending
 * in its till. Goes on with the shift that an earlier play broke off, and closes the tills of older ones. Whatever goes
 * wrong, it tries again half a minute later.
 */
export async function simulateDemo(context: SimulationContext): Promise<void> {
  const { clock, signal, log } = context;
  for (let count = 0; ; ) {
    try {
      const live = await findDeviceLiveOrders(context);
      let shift = findInterruptedDemoShift(context, live) ?? createFirstDemoShift(context);
      live.delete(shift.tillId);
      await closeInterruptedTills(context, live);
      for (;;) {
        await simulateDay(context, joinScheduleAt(scheduleDemoShift(context, shift), clock.now()));
        count++;
        shift = createNextDemoShift(context, shift, count);
        await clock.wait(Math.max(0, shift.startsAt - clock.now()), signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      log(`Trying again in half a minute: ${formatErrorWithCauses(error)}`);
      await clock.wait(30_000, signal);
    }
  }
}

/**
 * The shift that one of these tills is of, if its time has not passed: it was broken off. Not when the till's live orders
 * are not those that the shift would play: another version made them.
 */
export function findInterruptedDemoShift(
  context: ShiftContext,
  live: ReadonlyMap<string, OrderData[]>,
): DemoShift | undefined {
  const { locationId, clock } = context;
  const shifts = [...live.keys()].flatMap((tillId) => {
    const startsAt = Number.parseInt(tillId.replace("-", "").slice(0, 12), 16);
    return [shortShiftMs, longShiftMs].map((durationMs) => createDemoShiftAt(locationId, startsAt, durationMs));
  });
  return shifts.find((shift) => {
    const orders = live.get(shift.tillId);
    if (!orders || clock.now() > shift.startsAt + shift.durationMs) return false;
    const played = new Set(scheduleDemoShift(context, shift).till.orderList.map(({ id }) => id));
    return orders.every(({ id }) => played.has(id));
  });
}

/** A shift that is at noon already, so that there is something to see. */
export function createFirstDemoShift({ locationId, clock }: ShiftContext): DemoShift {
  return createDemoShiftAt(locationId, clock.now() - headStartMs, shortShiftMs);
}

/**
 * The shift after another one, the count-th in a row. It follows at once, unless the other ended long ago, as after a
 * night in which the machine slept. The first ones are short; a demo that is left running for days opens two tills a
 * day, so that what it stores grows no faster than a restaurant's.
 */
export function createNextDemoShift(
  { locationId, clock }: ShiftContext,
  { startsAt, durationMs }: DemoShift,
  count: number,
): DemoShift {
  const end = startsAt + durationMs;
  const isLate = clock.now() > end + headStartMs;
  return createDemoShiftAt(
    locationId,
    isLate ? clock.now() : end,
    count < shortShiftCount ? shortShiftMs : longShiftMs,
  );
}

/** The day that a shift plays: from opening to closing at the pace of the shift, under the times at which it is played. */
export function scheduleDemoShift(
  { timeZone }: ShiftContext,
  { tillId, startsAt, durationMs }: DemoShift,
): OrderSchedule {
  const day = localDateAt(startsAt, timeZone).toString();
  const till = generateTill({ seed: demoRestaurantSeed, orders: ordersPerShift, day, timeZone, tillId });
  const opens = Date.parse(till.startedAt);
  return scheduleAtPlayedTimes(
    till,
    (instant) => startsAt + durationMs * demoShiftShareAtHour((instant - opens) / (60 * minuteMs)),
  );
}

/** When in a shift an hour of its day is played, as a share of the shift: quiet hours pass quickly. */
export function demoShiftShareAtHour(hour: number): number {
  const after = Math.max(
    1,
    shiftShareByHour.findIndex(([until]) => until >= hour),
  );
  const [fromHour, fromShare] = shiftShareByHour[after - 1] ?? [0, 0];
  const [toHour, toShare] = shiftShareByHour[after] ?? [24, 1];
  return fromShare + ((hour - fromHour) / (toHour - fromHour)) * (toShare - fromShare);
}

/** A shift whose till's id starts with its beginning, as uuids of version 7 do: by it a shift is found again. */
function createDemoShiftAt(locationId: string, instant: number, durationMs: number): DemoShift {
  const startsAt = Math.round(instant);
  const time = startsAt.toString(16).padStart(12, "0");
  const random = new Random(`live/${locationId}/${startsAt}/${durationMs}`).uuid();
  return { tillId: `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`, startsAt, durationMs };
}

const minuteMs = 60_000;
const shortShiftMs = 120 * minuteMs;
const longShiftMs = 720 * minuteMs;
const shortShiftCount = 6;
const ordersPerShift = 100;
/** How far the first shift of a demo is when it begins. */
const headStartMs = 20 * minuteMs;

/** Hours after opening, and the share of the shift by which they are over; from breakfast to the last guests. */
const shiftShareByHour: readonly (readonly [hour: number, share: number])[] = [
  [0, 0],
  [3.4, 0.04],
  [6.5, 0.44],
  [11, 0.49],
  [15, 0.94],
  [17, 0.985],
  [24, 1],
];
