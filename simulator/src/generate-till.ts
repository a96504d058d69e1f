import { fieldDefaultsOf } from "@pragma/contracts/fields";
import type { OrderData } from "@pragma/contracts/order-data";
import { TillV2 } from "@pragma/contracts/till-v2";
import { Temporal } from "temporal-polyfill";
import { generateOrder } from "./generate-order.ts";
import { defaultTillMix, planOrders, type TillMix } from "./plan-orders.ts";
import { sumField } from "./product-row.ts";
import { Random } from "./random.ts";
import { type Establishment, generateRestaurant, type Restaurant } from "./restaurant.ts";
import {
  generateArrivalTimes,
  generateServiceDay,
  pickClerk,
  planClerkShifts,
  randomOrderTimes,
  type ServiceDay,
  toUtcDateTime,
} from "./service-day.ts";

/** A till as it is pushed, with every field. */
export type GeneratedTill = TillV2 & Establishment;

export interface GenerateTillOptions {
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
export function generateTill(options: GenerateTillOptions): GeneratedTill {
  const { seed, orders: count, day, timeZone = "Europe/Paris", training = false } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`Not a number of orders: ${count}`);
  const mix = { ...defaultTillMix, ...options.mix };
  const reportNumber = reportNumberOf(day);
  const tillId =
    options.tillId ?? new Random(JSON.stringify([seed, count, day, timeZone, reportNumber, training, mix])).uuid();

  const random = new Random(`till/${seed}/${tillId}`);
  const restaurant = generateRestaurant(seed);
  const open = generateServiceDay(random, day, timeZone);
  const shifts = planClerkShifts(restaurant.clerks, open);
  const takenUntil = new Map<string, string>();
  const opened = generateArrivalTimes(random, open, count);
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
  const [startedAt, finalizedAt] = [toUtcDateTime(open.opensAt), toUtcDateTime(open.closesAt)];
  return {
    ...createClosedTill(restaurant, { id: tillId, startedAt, finalizedAt, reportNumber, orderList }),
    note,
    isTraining: training,
    ...computeCashDrawer(random, restaurant, open, orderList),
    clerkShiftList: shifts.map(({ clerk, from, to }) => ({
      ...clerk,
      clockInDate: toUtcDateTime(from),
      clockOutDate: to === null ? null : toUtcDateTime(to),
    })),
  };
}

const tillDefaults = fieldDefaultsOf(TillV2.shape);

type ClosedOrders = Pick<TillV2, "id" | "startedAt" | "finalizedAt" | "reportNumber" | "orderList">;

/** The till of these orders, all of them closed, without what a till states of its drawer and its shifts. */
export function createClosedTill({ establishment, device, clerks }: Restaurant, closed: ClosedOrders): GeneratedTill {
  const { id, startedAt, finalizedAt, reportNumber, orderList } = closed;
  return {
    ...tillDefaults,
    id,
    ...establishment,
    deviceName: device.name,
    deviceIdentifier: device.id,
    startedAt,
    finalizedAt,
    reportNumber,
    clerkName: clerks[0]?.name ?? null,
    clerkId: clerks[0]?.id ?? null,
    financialMovementList: [],
    declaredPaymentList: createDeclaredPayments(orderList),
    clerkShiftList: [],
    orderList,
  };
}

/** One report a day, since a day before any till. */
function reportNumberOf(day: string): number {
  const days = Temporal.PlainDate.from("2024-01-01").until(Temporal.PlainDate.from(day)).days;
  return Math.max(1, days);
}

type Movement = TillV2["financialMovementList"][number];
type PlannedMovement = Pick<Movement, "type" | "name" | "amount">;
type DeclaredPayment = TillV2["declaredPaymentList"][number];

/** What the drawer held on a day, and the movements that are no sales. The final balance is what adds up. */
function computeCashDrawer(random: Random, restaurant: Restaurant, day: ServiceDay, orders: readonly OrderData[]) {
  const initialCashBalance = random.integer(30, 60) * 500;
  const planned = planMovements(random, orders.length);
  const takings = listReceivedPayments(orders).filter(({ paymentMode }) => paymentMode === "cash");
  const expected = initialCashBalance + sumField(takings, "amount") + sumField(planned, "amount");
  // A drawer cannot hold less than nothing: what was missing has been put in.
  if (expected < 0) planned.push({ type: "cash-in", name: "Apport du gérant", amount: -expected });
  return {
    initialCashBalance,
    finalCashBalance: random.chance(0.9) ? Math.max(0, expected) : null,
    financialMovementList: planned.map((movement) => createMovement(random, restaurant, day, movement)),
  };
}

/** What the clerk declares at closing: the payments of every order that is not training, by method. Tips are apart. */
function createDeclaredPayments(orders: readonly OrderData[]): DeclaredPayment[] {
  const byMethod = new Map<string | null, DeclaredPayment & { quantity: number }>();
  for (const { paymentId, paymentMode, name, amount, paymentType } of listReceivedPayments(orders)) {
    if (paymentType === "tip") continue;
    const unpaid = { paymentMode, paymentAmount: 0, quantity: 0, paymentId, paymentName: name };
    const declared = byMethod.get(paymentId) ?? unpaid;
    declared.paymentAmount += amount;
    declared.quantity += 1;
    byMethod.set(paymentId, declared);
  }
  return [...byMethod.values()];
}

function listReceivedPayments(orders: readonly OrderData[]) {
  return orders
    .filter(({ isTraining }) => !isTraining)
    .flatMap(({ paymentRowList }) => paymentRowList)
    .filter(({ status }) => status === "validated");
}

function planMovements(random: Random, orderCount: number): PlannedMovement[] {
  const some = (expected: number, type: Movement["type"], describe: () => Omit<PlannedMovement, "type">) =>
    Array.from({ length: random.quota(expected) }, () => ({ type, ...describe() }));
  return [
    ...some(0.4 + orderCount / 300, "cash-in", () => ({
      name: "Appoint monnaie",
      amount: random.integer(2, 10) * 1000,
    })),
    ...some(0.5 + orderCount / 300, "cash-out", () => ({
      name: random.pick(["Achat pain", "Achat glaçons", "Fleurs"]),
      amount: -random.integer(400, 3500),
    })),
    ...some(orderCount / 150, "deposit", () => ({ name: "Arrhes banquet", amount: random.integer(4, 20) * 1000 })),
    ...some(orderCount / 150, "customerAccount", () => ({
      name: "Règlement de compte",
      amount: random.integer(2000, 12000),
    })),
  ];
}

function createMovement(random: Random, restaurant: Restaurant, day: ServiceDay, movement: PlannedMovement): Movement {
  const { cash } = restaurant.paymentMethods;
  const [lead] = restaurant.clerks;
  const isCustomers = movement.type === "deposit" || movement.type === "customerAccount";
  const customer = isCustomers ? random.pick(restaurant.regulars) : null;
  return {
    id: random.uuid(),
    ...movement,
    recordedAt: toUtcDateTime(random.integer(day.opensAt / 1000, day.closesAt / 1000) * 1000),
    deviceIdentifier: restaurant.device.id,
    deviceName: restaurant.device.name,
    operatorId: lead?.id ?? null,
    operatorName: lead?.name ?? null,
    currencyCode: "EUR",
    paymentMode: cash.mode,
    paymentId: cash.id,
    paymentName: cash.name,
    customerId: customer?.key ?? null,
    customerName: customer?.name ?? null,
  };
}
