import type { OrderData } from "@pragma/contracts/order-data";
import { demoRestaurantSeed } from "./demo-location.ts";
import { generateTill } from "./generate-till.ts";
import { type OrderSchedule, resumeOrderScheduleAt, scheduleAtSimulatedTimes } from "./order-schedule.ts";
import { SeededRandom } from "./random.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { getLocalDate } from "./service-day.ts";
import { closeInterruptedTills, findDeviceLiveOrders, type SimulationContext, simulateDay } from "./simulate-day.ts";

/** A till that the demo simulates live: a day of service in less time. */
export interface DemoShift {
  readonly tillId: string;
  /** When the till is opened, in milliseconds since 1970. */
  readonly startsAtMs: number;
  readonly durationMs: number;
}

/** The part of the simulation context that shifts depend on. */
type ShiftContext = Pick<SimulationContext, "locationId" | "timeZone" | "clock">;

/**
 * Simulates live orders of the demo location until the signal is aborted: one shift after the other, each ending with
 * its till. Continues an interrupted shift, and closes the tills of older ones. Retries half a minute after any error.
 */
export async function simulateDemoLocation(context: SimulationContext): Promise<void> {
  const { clock, signal, log } = context;
  for (let shiftCount = 0; ; ) {
    try {
      const liveOrdersByTill = await findDeviceLiveOrders(context);
      let shift = findInterruptedDemoShift(context, liveOrdersByTill) ?? createFirstDemoShift(context);
      liveOrdersByTill.delete(shift.tillId);
      await closeInterruptedTills(context, liveOrdersByTill);
      for (;;) {
        await simulateDay(context, resumeOrderScheduleAt(scheduleDemoShift(context, shift), clock.now()));
        shiftCount++;
        shift = createNextDemoShift(context, shift, shiftCount);
        await clock.wait(Math.max(0, shift.startsAtMs - clock.now()), signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      log(`Retrying in half a minute: ${formatErrorWithCauses(error)}`);
      await clock.wait(30_000, signal);
    }
  }
}

/**
 * Returns the interrupted shift that one of these tills belongs to, unless the shift should have ended by now. Ignores
 * tills with orders that the shift does not contain: another version of the simulator created them.
 */
export function findInterruptedDemoShift(
  context: ShiftContext,
  liveOrdersByTill: ReadonlyMap<string, OrderData[]>,
): DemoShift | undefined {
  const { locationId, clock } = context;
  const shifts = [...liveOrdersByTill.keys()].flatMap((tillId) => {
    const startsAtMs = Number.parseInt(tillId.replace("-", "").slice(0, 12), 16);
    return [shortShiftMs, longShiftMs].map((durationMs) => createDemoShiftAt(locationId, startsAtMs, durationMs));
  });
  return shifts.find((shift) => {
    const orders = liveOrdersByTill.get(shift.tillId);
    if (!orders || clock.now() > shift.startsAtMs + shift.durationMs) return false;
    const scheduledIds = new Set(scheduleDemoShift(context, shift).till.orderList.map(({ id }) => id));
    return orders.every(({ id }) => scheduledIds.has(id));
  });
}

/** Returns a shift that has already reached noon, so that there are open orders. */
export function createFirstDemoShift({ locationId, clock }: ShiftContext): DemoShift {
  return createDemoShiftAt(locationId, clock.now() - headStartMs, shortShiftMs);
}

/**
 * Returns the shift after `count` others. It starts when the previous one ends, or now if that was long ago, as after a
 * night in which the machine slept. The first shifts are short. Later ones take half a day, so that the stored data of
 * a demo grows no faster than that of a restaurant.
 */
export function createNextDemoShift(
  { locationId, clock }: ShiftContext,
  { startsAtMs, durationMs }: DemoShift,
  count: number,
): DemoShift {
  const endsAtMs = startsAtMs + durationMs;
  const isLate = clock.now() > endsAtMs + headStartMs;
  return createDemoShiftAt(
    locationId,
    isLate ? clock.now() : endsAtMs,
    count < shortShiftCount ? shortShiftMs : longShiftMs,
  );
}

/** Returns the schedule of a shift: a day from opening to closing, mapped to the time of the shift. */
export function scheduleDemoShift(
  { timeZone }: ShiftContext,
  { tillId, startsAtMs, durationMs }: DemoShift,
): OrderSchedule {
  const day = getLocalDate(startsAtMs, timeZone).toString();
  const till = generateTill({ seed: demoRestaurantSeed, orders: ordersPerShift, day, timeZone, tillId });
  const openedMs = Date.parse(till.startedAt);
  return scheduleAtSimulatedTimes(
    till,
    (instantMs) => startsAtMs + durationMs * getDemoShiftShareAtHour((instantMs - openedMs) / (60 * minuteMs)),
  );
}

/** Returns the share of a shift at which an hour of its day is simulated. Quiet hours pass quickly. */
export function getDemoShiftShareAtHour(hour: number): number {
  const nextIndex = Math.max(
    1,
    shiftShareByHour.findIndex(([untilHour]) => untilHour >= hour),
  );
  const [fromHour, fromShare] = shiftShareByHour[nextIndex - 1] ?? [0, 0];
  const [toHour, toShare] = shiftShareByHour[nextIndex] ?? [24, 1];
  return fromShare + ((hour - fromHour) / (toHour - fromHour)) * (toShare - fromShare);
}

/** Returns a shift that can be found by its till id, which starts with the start time, like a version 7 UUID. */
function createDemoShiftAt(locationId: string, startMs: number, durationMs: number): DemoShift {
  const startsAtMs = Math.round(startMs);
  const timeDigits = startsAtMs.toString(16).padStart(12, "0");
  const uuid = new SeededRandom(`live/${locationId}/${startsAtMs}/${durationMs}`).uuid();
  return { tillId: `${timeDigits.slice(0, 8)}-${timeDigits.slice(8)}-7${uuid.slice(15)}`, startsAtMs, durationMs };
}

const minuteMs = 60_000;
const shortShiftMs = 120 * minuteMs;
const longShiftMs = 720 * minuteMs;
const shortShiftCount = 6;
const ordersPerShift = 100;
/** How much of the first shift has passed when the demo starts. */
const headStartMs = 20 * minuteMs;

/** Hours after opening, each with the share of the shift that has passed by then, from breakfast to the last guests. */
const shiftShareByHour: readonly (readonly [hour: number, share: number])[] = [
  [0, 0],
  [3.4, 0.04],
  [6.5, 0.44],
  [11, 0.49],
  [15, 0.94],
  [17, 0.985],
  [24, 1],
];
