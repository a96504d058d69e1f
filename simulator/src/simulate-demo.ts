import type { PosOrderData } from "@pragma/contracts/order-data";
import { correctDayMix, demoRestaurantSeed } from "./demo-location.ts";
import { generateTill } from "./generate-till.ts";
import { createSimulatedSchedule, omitSupersededRevisions, type SimulatedDay } from "./order-revisions.ts";
import { SeededRandom } from "./random.ts";
import { formatErrorWithCauses } from "./run-until-stopped.ts";
import { getLocalDate } from "./service-day.ts";
import {
  fetchDeviceLiveOrdersByTillId,
  pushInterruptedTills,
  type SimulationContext,
  simulateRestaurantDay,
} from "./simulate-day.ts";

/** A day of service that the demo simulates in less time. Each shift has its own till. */
export type DemoTillShift = ReturnType<typeof createDemoShiftAt>;

type ShiftContext = Pick<SimulationContext, "locationId" | "clock">;

/** Simulates one shift after the other, until the signal is aborted. First continues or closes interrupted shifts. */
export async function runDemoLocationSimulation(context: SimulationContext): Promise<void> {
  const { clock, signal, log } = context;
  for (let shiftCount = 0; ; ) {
    try {
      const liveOrdersByTill = await fetchDeviceLiveOrdersByTillId(context);
      let shift = findInterruptedDemoTillShift(context, liveOrdersByTill) ?? planFirstDemoTillShift(context);
      liveOrdersByTill.delete(shift.tillId);
      await pushInterruptedTills(context, liveOrdersByTill);
      for (;;) {
        const schedule = generateDemoTillShiftSchedule(shift);
        await simulateRestaurantDay(context, omitSupersededRevisions(schedule, clock.now()));
        shiftCount++;
        shift = planNextDemoTillShift(context, shift, shiftCount);
        await clock.wait(Math.max(0, shift.startsAtMs - clock.now()), signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      log(`Retrying in half a minute: ${formatErrorWithCauses(error)}`);
      await clock.wait(30_000, signal);
    }
  }
}

/** Returns the shift of one of these tills, unless it has ended, or other versions of the simulator created it. */
export function findInterruptedDemoTillShift(
  context: ShiftContext,
  liveOrdersByTill: ReadonlyMap<string, PosOrderData[]>,
): DemoTillShift | undefined {
  const { locationId, clock } = context;
  const shifts = [...liveOrdersByTill.keys()].flatMap((tillId) => {
    const startsAtMs = Number.parseInt(tillId.replace("-", "").slice(0, 12), 16);
    return [shortShiftMs, longShiftMs].map((durationMs) => createDemoShiftAt(locationId, startsAtMs, durationMs));
  });
  return shifts.find((shift) => {
    const orders = liveOrdersByTill.get(shift.tillId);
    if (!orders || clock.now() > shift.startsAtMs + shift.durationMs) return false;
    const scheduledIds = new Set(generateDemoTillShiftSchedule(shift).till.orderList.map(({ id }) => id));
    return orders.every(({ id }) => scheduledIds.has(id));
  });
}

/** Returns a shift in which it is already noon, so that orders are open when the demo starts. */
export function planFirstDemoTillShift({ locationId, clock }: ShiftContext): DemoTillShift {
  return createDemoShiftAt(locationId, clock.now() - headStartMs, shortShiftMs);
}

/**
 * Returns the next shift after `count` shifts, which starts now if the end of the previous one was missed, for example
 * because the computer was suspended. Later shifts are long, so that a demo does not store more data than a restaurant.
 */
export function planNextDemoTillShift(
  { locationId, clock }: ShiftContext,
  { startsAtMs, durationMs }: DemoTillShift,
  count: number,
): DemoTillShift {
  const endsAtMs = startsAtMs + durationMs;
  const nextStartsAtMs = clock.now() > endsAtMs + headStartMs ? clock.now() : endsAtMs;
  return createDemoShiftAt(locationId, nextStartsAtMs, count < shortShiftCount ? shortShiftMs : longShiftMs);
}

/** Returns the schedule of a shift. The 24 hours after the opening are mapped to the duration of the shift. */
export function generateDemoTillShiftSchedule(
  { tillId, startsAtMs, durationMs }: DemoTillShift,
  orders = ordersPerShift,
): SimulatedDay {
  const day = getLocalDate(startsAtMs).toString();
  const till = generateTill({ seed: demoRestaurantSeed, orders, day, tillId, mix: correctDayMix(orders) });
  const hourOf = (instantMs: number) => (instantMs - Date.parse(till.startedAt)) / (60 * minuteMs);
  return createSimulatedSchedule(till, (at) => startsAtMs + durationMs * getDemoShiftProgressAtHour(hourOf(at)));
}

/** Returns the share of a shift that has passed `hour` hours after opening. Quiet hours take up a small share. */
export function getDemoShiftProgressAtHour(hour: number): number {
  const nextIndex = shiftShareByHour.findIndex(([untilHour]) => untilHour >= hour);
  const [toHour, toShare] = shiftShareByHour[nextIndex] ?? [24, 1];
  const [fromHour, fromShare] = shiftShareByHour[nextIndex - 1] ?? [0, 0];
  return fromShare + ((hour - fromHour) / (toHour - fromHour)) * (toShare - fromShare);
}

/** Returns a shift. Its till id begins with its start time, so that the shift can be restored from the till id. */
export function createDemoShiftAt(locationId: string, startMs: number, durationMs: number) {
  const startsAtMs = Math.round(startMs);
  const timeDigits = startsAtMs.toString(16).padStart(12, "0");
  const uuid = new SeededRandom(`live/${locationId}/${startsAtMs}/${durationMs}`).uuid();
  return { tillId: `${timeDigits.slice(0, 8)}-${timeDigits.slice(8)}-7${uuid.slice(15)}`, startsAtMs, durationMs };
}

const minuteMs = 60_000;
export const shortShiftMs = 120 * minuteMs;
const longShiftMs = 720 * minuteMs;
const shortShiftCount = 6;
const ordersPerShift = 100;
/** How long ago the first shift has begun when the demo starts, and how late a next shift may begin. */
const headStartMs = 20 * minuteMs;

/** Hours after opening, and the share of the shift that has passed after each, from breakfast to the last guests. */
const shiftShareByHour: readonly (readonly [hour: number, share: number])[] = [
  [3.4, 0.04],
  [6.5, 0.44],
  [11, 0.49],
  [15, 0.94],
  [17, 0.985],
  [24, 1],
];
