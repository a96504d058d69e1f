import type { OrderData } from "@pragma/contracts/order-data";
import { Temporal } from "temporal-polyfill";
import { closeLeftovers, findOwnOrders } from "./close-leftovers.ts";
import { demoRestaurant } from "./demo-days.ts";
import { brokenOffShift, type DemoShift, newShift, shareOfShift, shiftAfter } from "./demo-shifts.ts";
import { generateTill } from "./generate-till.ts";
import { joinedAt, type LiveDay, presentDay } from "./live-day.ts";
import { type Playing, playDay } from "./play-day.ts";
import { explain } from "./run-until-stopped.ts";

/**
 * Keeps the live orders of the demo location moving until the signal is given: one shift after the other, each ending
 * in its till. Goes on with the shift that an earlier play broke off, and closes the tills of older ones. Whatever goes
 * wrong, it tries again half a minute later.
 */
export async function playDemo(playing: Playing): Promise<void> {
  const { locationId, clock, signal, say } = playing;
  for (let count = 0; ; ) {
    try {
      const live = await findOwnOrders(playing);
      let shift = firstShift(playing, live);
      live.delete(shift.tillId);
      await closeLeftovers(playing, live);
      for (;;) {
        await playDay(playing, joinedAt(shiftDay(playing, shift), clock.now()));
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
  return presentDay(till, (instant) => begins + lasts * shareOfShift((instant - opens) / hourMs));
}

/** The shift that was broken off, unless its live orders are not those that it would play: another version made them. */
function firstShift(playing: Playing, live: ReadonlyMap<string, OrderData[]>): DemoShift {
  const { locationId, clock } = playing;
  const tillIds = new Set(live.keys());
  const shift = brokenOffShift(locationId, clock.now(), tillIds);
  const played = new Set(shift && shiftDay(playing, shift).till.orderList.map(({ id }) => id));
  const isItsOwn = shift && live.get(shift.tillId)?.every(({ id }) => played.has(id));
  return isItsOwn ? shift : newShift(locationId, clock.now(), tillIds);
}

const hourMs = 3_600_000;
const ordersOfShift = 100;
