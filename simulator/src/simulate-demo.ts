import type { PosOrderData } from "@pragma/contracts/order-data";
import { demoRestaurantSeed } from "./demo-location.ts";
import { generateTill } from "./generate-till.ts";
import { createSimulatedSchedule, omitSupersededRevisions, type SimulatedDay } from "./order-schedule.ts";
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
export interface DemoTillShift {
  readonly tillId: string;
  /** When the till is opened, in milliseconds since 1970. */
  readonly startsAtMs: number;
  readonly durationMs: number;
}

/** The fields of the simulation context that functions for shifts need. */
type ShiftContext = Pick<SimulationContext, "locationId" | "clock">;

/**
 * Simulates live orders of the demo location until the signal is aborted. Simulates one shift after the other, and
 * pushes the till at the end of each shift. Continues an interrupted shift, and closes the tills of older shifts. After
 * an error, tries again in half a minute.
 */
export async function runDemoLocationSimulation(context: SimulationContext): Promise<void> {
  const { clock, signal, log } = context;
  for (let shiftCount = 0; ; ) {
    try {
      const liveOrdersByTill = await fetchDeviceLiveOrdersByTillId(context);
      let shift = findInterruptedDemoTillShift(context, liveOrdersByTill) ?? planFirstDemoTillShift(context);
      liveOrdersByTill.delete(shift.tillId);
      await pushInterruptedTills(context, liveOrdersByTill);
      for (;;) {
        await simulateRestaurantDay(
          context,
          omitSupersededRevisions(generateDemoTillShiftSchedule(shift), clock.now()),
        );
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

/**
 * Returns the interrupted shift to which one of these tills belongs, unless the shift should have ended by now. Ignores
 * a till if one of its live orders is not in its shift. Another version of the simulator created such a till.
 */
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
 * Returns the next shift after `count` shifts. It starts when the previous shift ends, or now if that was more than 20
 * minutes ago, for example because the computer was suspended. The first shifts are short. Later shifts last half a
 * day, so that a demo does not store more data than a restaurant.
 */
export function planNextDemoTillShift(
  { locationId, clock }: ShiftContext,
  { startsAtMs, durationMs }: DemoTillShift,
  count: number,
): DemoTillShift {
  const endsAtMs = startsAtMs + durationMs;
  const isLate = clock.now() > endsAtMs + headStartMs;
  return createDemoShiftAt(
    locationId,
    isLate ? clock.now() : endsAtMs,
    count < shortShiftCount ? shortShiftMs : longShiftMs,
  );
}

/** Returns the schedule of a shift. The 24 hours after the opening are mapped to the duration of the shift. */
export function generateDemoTillShiftSchedule({ tillId, startsAtMs, durationMs }: DemoTillShift): SimulatedDay {
  const day = getLocalDate(startsAtMs).toString();
  const till = generateTill({ seed: demoRestaurantSeed, orders: ordersPerShift, day, tillId });
  const openedMs = Date.parse(till.startedAt);
  return createSimulatedSchedule(
    till,
    (instantMs) => startsAtMs + durationMs * getDemoShiftProgressAtHour((instantMs - openedMs) / (60 * minuteMs)),
  );
}

/**
 * Returns the share of a shift that has passed `hour` hours after opening. Hours with few guests take up only a small
 * share of the shift.
 */
export function getDemoShiftProgressAtHour(hour: number): number {
  const nextIndex = Math.max(
    1,
    shiftShareByHour.findIndex(([untilHour]) => untilHour >= hour),
  );
  const [fromHour, fromShare] = shiftShareByHour[nextIndex - 1] ?? [0, 0];
  const [toHour, toShare] = shiftShareByHour[nextIndex] ?? [24, 1];
  return fromShare + ((hour - fromHour) / (toHour - fromHour)) * (toShare - fromShare);
}

/** Returns a shift. Its till id begins with its start time, so that the shift can be restored from the till id. */
function createDemoShiftAt(locationId: string, startMs: number, durationMs: number): DemoTillShift {
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
/**
 * Milliseconds for which the first shift has already lasted when the demo starts. If a shift ended longer ago than
 * this, the next shift starts now instead of at that end.
 */
const headStartMs = 20 * minuteMs;

/** Hours after opening, and the share of the shift that has passed after each, from breakfast to the last guests. */
const shiftShareByHour: readonly (readonly [hour: number, share: number])[] = [
  [0, 0],
  [3.4, 0.04],
  [6.5, 0.44],
  [11, 0.49],
  [15, 0.94],
  [17, 0.985],
  [24, 1],
];
