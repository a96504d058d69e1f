import type { OrderData } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { Temporal } from "temporal-polyfill";
import { cashDrawer, declarePayments } from "./cash-drawer.ts";
import type { Establishment } from "./establishment.ts";
import { Floor } from "./floor.ts";
import { generateOrder } from "./generate-order.ts";
import { toDateTime } from "./order-times.ts";
import { planOrders } from "./plan-orders.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { Roster } from "./roster.ts";
import { arrivals, serviceDay, stay } from "./service-day.ts";
import { completeMix, type TillMix } from "./till-mix.ts";

/** A till as it is pushed, with every field. */
export type GeneratedTill = TillV2 & Establishment;

export interface TillOptions {
  /** Names the restaurant: every till of a seed has the same clerks, products, rooms and payment methods. */
  seed: number | string;
  /** How many orders the till holds. */
  orders: number;
  /** The local day on which the till was opened, YYYY-MM-DD. */
  day: string;
  /** IANA name; Europe/Paris unless given. */
  timeZone?: string;
  /** A uuid. Unless given it follows from all other options: other options make another till. */
  tillId?: string;
  /** Counts up from day to day unless given. */
  reportNumber?: number;
  /** Whether the whole till was made in school mode. */
  training?: boolean;
  /** Other weights for the special cases than those of an ordinary day. */
  mix?: Partial<TillMix>;
}

/**
 * The till of one day of a pretend restaurant, as a point of sale pushes it: every amount that it declares adds up. The
 * same options make the same till, to the byte.
 *
 * Throws a RangeError for a number of orders that is no count, a day that does not exist, an unknown time zone, or a
 * weight outside 0 to 1.
 */
export function generateTill(options: TillOptions): GeneratedTill {
  const { seed, orders: count, day, timeZone = "Europe/Paris", training = false } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`Not a number of orders: ${count}`);
  const mix = completeMix(options.mix);
  const reportNumber = options.reportNumber ?? reportNumberOf(day);
  const tillId =
    options.tillId ?? new Random(JSON.stringify([seed, count, day, timeZone, reportNumber, training, mix])).uuid();

  const random = new Random(`till/${seed}/${tillId}`);
  const restaurant = generateRestaurant(seed);
  const open = serviceDay(random, day, timeZone);
  const roster = new Roster(restaurant.clerks, open);
  const floor = new Floor();
  const opened = arrivals(random, open, count);
  const orders = planOrders(random, count, mix).map((plan, index): OrderData => {
    const instant = opened[index] ?? open.opens;
    const orderRandom = random.fork(index);
    const times = stay(orderRandom, instant, plan.service);
    const operator = plan.isOffShift ? roster.offShift(orderRandom, instant) : roster.onShift(orderRandom, instant);
    return generateOrder({
      random: orderRandom,
      restaurant,
      plan: training ? { ...plan, fate: "training" } : plan,
      tillId,
      fiscalNumber: index + 1,
      times,
      floor,
      operator,
      cashier: orderRandom.chance(0.75) ? operator : roster.onShift(orderRandom, Date.parse(times.closedAt)),
    });
  });

  return {
    id: tillId,
    note: random.chance(0.2)
      ? random.pick(["RAS", "Terrasse fermée à cause de la pluie", "Panne du TPE à midi"])
      : null,
    ...restaurant.establishment,
    deviceName: restaurant.device.name,
    deviceIdentifier: restaurant.device.id,
    isTraining: training,
    startedAt: toDateTime(open.opens),
    finalizedAt: toDateTime(open.closes),
    reportNumber,
    clerkName: roster.lead.name,
    clerkId: roster.lead.id,
    ...cashDrawer({ random, restaurant, day: open, lead: roster.lead, orders }),
    declaredPaymentList: declarePayments(orders),
    clerkShiftList: roster.toList(),
    orderList: orders,
  };
}

/** One report a day, since a day before any till. */
function reportNumberOf(day: string): number {
  const days = Temporal.PlainDate.from("2024-01-01").until(Temporal.PlainDate.from(day)).days;
  return Math.max(1, days);
}
