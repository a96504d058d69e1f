import type { OrderData } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { Temporal } from "temporal-polyfill";
import { cashDrawer, declarePayments } from "./cash-drawer.ts";
import type { Establishment } from "./establishment.ts";
import { generateOrder } from "./generate-order.ts";
import { ordinaryMix, planOrders, type TillMix } from "./plan-orders.ts";
import { Random } from "./random.ts";
import { generateRestaurant, type Restaurant } from "./restaurant.ts";
import { pickClerk, randomArrivals, randomOrderTimes, serviceDay, shiftsOf, toDateTime } from "./service-day.ts";

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
  /** Whether the whole till was made in training mode. */
  training?: boolean;
  /** Other weights for the special cases than those of an ordinary day. */
  mix?: Partial<TillMix>;
}

/**
 * The till of one day of a pretend restaurant, as a point of sale pushes it: every amount that it declares adds up. The
 * same options make the same till, to the byte.
 *
 * Throws a RangeError for a number of orders that is no count, a day that does not exist or an unknown time zone.
 */
export function generateTill(options: TillOptions): GeneratedTill {
  const { seed, orders: count, day, timeZone = "Europe/Paris", training = false } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`Not a number of orders: ${count}`);
  const mix = { ...ordinaryMix, ...options.mix };
  const reportNumber = reportNumberOf(day);
  const tillId =
    options.tillId ?? new Random(JSON.stringify([seed, count, day, timeZone, reportNumber, training, mix])).uuid();

  const random = new Random(`till/${seed}/${tillId}`);
  const restaurant = generateRestaurant(seed);
  const open = serviceDay(random, day, timeZone);
  const shifts = shiftsOf(restaurant.clerks, open);
  const takenUntil = new Map<string, string>();
  const opened = randomArrivals(random, open, count);
  const orderList = planOrders(random, count, mix).map((plan, index): OrderData => {
    const instant = opened[index] ?? open.opensAt;
    const orderRandom = random.fork(index);
    const times = randomOrderTimes(orderRandom, instant, plan.service);
    const operator = pickClerk(orderRandom, shifts, instant, !plan.isOffShift);
    const isOwnCashier = orderRandom.chance(0.75);
    return generateOrder({
      random: orderRandom,
      restaurant,
      plan: training ? { ...plan, kind: "training" } : plan,
      tillId,
      fiscalNumber: index + 1,
      times,
      takenUntil,
      operator,
      cashier: isOwnCashier ? operator : pickClerk(orderRandom, shifts, Date.parse(times.closedAt), true),
    });
  });

  const notes = ["RAS", "Terrasse fermée à cause de la pluie", "Panne du TPE à midi"];
  const note = random.chance(0.2) ? random.pick(notes) : null;
  const [startedAt, finalizedAt] = [toDateTime(open.opensAt), toDateTime(open.closesAt)];
  return {
    ...closedTill(restaurant, { id: tillId, startedAt, finalizedAt, reportNumber, orderList }),
    note,
    isTraining: training,
    ...cashDrawer(random, restaurant, open, orderList),
    clerkShiftList: shifts.map(({ clerk, from, to }) => ({
      ...clerk,
      clockInDate: toDateTime(from),
      clockOutDate: to === null ? null : toDateTime(to),
    })),
  };
}

type ClosedOrders = Pick<TillV2, "id" | "startedAt" | "finalizedAt" | "reportNumber" | "orderList">;

/** The till of these orders, all of them closed, without what a till states of its drawer and its shifts. */
export function closedTill({ establishment, device, clerks }: Restaurant, closed: ClosedOrders): GeneratedTill {
  const { id, startedAt, finalizedAt, reportNumber, orderList } = closed;
  return {
    id,
    note: null,
    ...establishment,
    deviceName: device.name,
    deviceIdentifier: device.id,
    isTraining: false,
    startedAt,
    finalizedAt,
    reportNumber,
    clerkName: clerks[0]?.name ?? null,
    clerkId: clerks[0]?.id ?? null,
    initialCashBalance: null,
    finalCashBalance: null,
    financialMovementList: [],
    declaredPaymentList: declarePayments(orderList),
    clerkShiftList: [],
    orderList,
  };
}

/** One report a day, since a day before any till. */
function reportNumberOf(day: string): number {
  const days = Temporal.PlainDate.from("2024-01-01").until(Temporal.PlainDate.from(day)).days;
  return Math.max(1, days);
}
