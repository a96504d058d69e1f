import type { OrderData } from "@pragma/contracts/order-data";
import { Temporal } from "temporal-polyfill";
import { demoRestaurant } from "./demo-days.ts";
import { brokenOffShift, type DemoShift, newShift, shareOfShift, shiftAfter } from "./demo-shifts.ts";
import { explain } from "./explain.ts";
import { findOwnOrders, finishLeftovers } from "./finish-leftovers.ts";
import { generateTill } from "./generate-till.ts";
import { type LiveDay, presentDay } from "./live-day.ts";
import { playDay } from "./play-day.ts";
import type { Playing } from "./playing.ts";

/**
 * Keeps the live orders of the demo location moving until the signal is given: one shift after the other, each ending
 * in its till. Goes on with the shift that an earlier play broke off, and closes the tills of older ones. Whatever goes
 * wrong, it tries again half a minute later.
 */
export async function playDemo(playing: Playing, locationId: string): Promise<void> {
  const { clock, signal, say } = playing;
  for (let count = 0; ; ) {
    try {
      const live = await findOwnOrders(playing);
      for (let shift = firstShift(playing, locationId, live); ; ) {
        await finishLeftovers(playing, othersThan(live, shift));
        live.clear();
        await playDay(playing, shiftDay(playing, shift), { joins: true });
        count++;
        shift = shiftAfter(locationId, shift, count, clock.now());
        await clock.wait(Math.max(0, shift.begins - clock.now()), signal);
      }
    } catch (error) {
      signal.throwIfAborted();
      say(`Trying again in half a minute: ${explain(error)}`);
      await clock.wait(30_000, signal);
    }
  }
}

/** The day that a shift plays: from opening to closing at the pace of the shift, under the times at which it is played. */
export function shiftDay({ timeZone }: Pick<Playing, "timeZone">, { tillId, begins, lasts }: DemoShift): LiveDay {
  const day = Temporal.Instant.fromEpochMilliseconds(begins).toZonedDateTimeISO(timeZone).toPlainDate().toString();
  const till = generateTill({ seed: demoRestaurant, orders: ordersOfShift, day, timeZone, tillId });
  const opens = Date.parse(till.startedAt);
  return presentDay(till, (instant) => begins + lasts * shareOfShift((instant - opens) / hour));
}

/** The shift that was broken off, unless its live orders are not those that it would play: another version made them. */
function firstShift(playing: Playing, locationId: string, live: ReadonlyMap<string, OrderData[]>): DemoShift {
  const now = playing.clock.now();
  const tillIds = new Set(live.keys());
  const shift = brokenOffShift(locationId, now, tillIds);
  if (shift === undefined) return newShift(locationId, now, tillIds);
  const played = new Set(shiftDay(playing, shift).till.orderList.map(({ id }) => id));
  const isItsOwn = live.get(shift.tillId)?.every(({ id }) => played.has(id));
  return isItsOwn ? shift : newShift(locationId, now, tillIds);
}

function othersThan(live: ReadonlyMap<string, OrderData[]>, { tillId }: DemoShift): Map<string, OrderData[]> {
  return new Map([...live].filter(([id]) => id !== tillId));
}

const hour = 3_600_000;
const ordersOfShift = 100;
