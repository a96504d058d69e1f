import { getSchemaFieldDefaults } from "@pragma/contracts/fields";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { TillV2 } from "@pragma/contracts/till-v2";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import { Temporal } from "temporal-polyfill";
import { generateOrderFromPlan } from "./generate-order.ts";
import { epochMsToUtcDateTime, generateTimesOfSimulatedOrder } from "./order-times.ts";
import { defaultCaseShares, planSimulatedOrders, type SimulatedOrderCaseShares } from "./plan-orders.ts";
import { sumFieldOfRows } from "./product-row.ts";
import { SeededRandom } from "./random.ts";
import { type EstablishmentFields, type GeneratedRestaurant, generateRestaurant } from "./restaurant.ts";
import {
  generateGuestArrivalTimes,
  generateOpeningHours,
  pickClerkByShiftStatus,
  planSimulatedClerkShifts,
  type SimulatedDayOpeningHours,
} from "./service-day.ts";

export type GeneratedTill = TillV2 & EstablishmentFields;

export interface GenerateTillOptions {
  /** Determines the restaurant: all tills with the same seed have the same clerks, products and rooms. */
  seed: number | string;
  orders: number;
  /** The local day on which the till was opened, YYYY-MM-DD. */
  day: string;
  /** A UUID. By default it is derived from all other options. */
  tillId?: string;
  training?: boolean;
  /** Derived from the day by default. */
  reportNumber?: number;
  /** Whether the cash is counted at closing. By default, it is in nine of ten tills. */
  isCashCounted?: boolean;
  mix?: Partial<SimulatedOrderCaseShares>;
}

/** Returns the till of a day, with consistent amounts. @throws RangeError for an invalid number of orders, or day. */
export function generateTill(options: GenerateTillOptions): GeneratedTill {
  const { seed, orders: count, day, training = false } = options;
  if (!Number.isInteger(count) || count < 0) throw new RangeError(`Invalid number of orders: ${count}`);
  const mix = { ...defaultCaseShares, ...options.mix };
  const defaultReportNumber = Math.max(1, Temporal.PlainDate.from("2024-01-01").until(day).days);
  const tillSeed = JSON.stringify([seed, count, day, defaultTimeZone, defaultReportNumber, training, mix]);
  const { reportNumber = defaultReportNumber } = options;
  const tillId = options.tillId ?? new SeededRandom(tillSeed).uuid();

  const random = new SeededRandom(`till/${seed}/${tillId}`);
  const restaurant = generateRestaurant(seed);
  const serviceDay = generateOpeningHours(random, day);
  const shifts = planSimulatedClerkShifts(restaurant.clerks, serviceDay);
  const occupiedUntil = new Map<string, string>();
  const arrivalTimes = generateGuestArrivalTimes(random, serviceDay, count);
  const orderList = planSimulatedOrders(random, count, mix).map((plan, index): PosOrderData => {
    const openedMs = arrivalTimes[index] ?? serviceDay.opensAtMs;
    const orderRandom = random.fork(index);
    const times = generateTimesOfSimulatedOrder(orderRandom, openedMs, plan.serviceType);
    const operator = pickClerkByShiftStatus(orderRandom, shifts, openedMs, !plan.isOffShift);
    const cashier = orderRandom.chance(0.75)
      ? operator
      : pickClerkByShiftStatus(orderRandom, shifts, Date.parse(times.closedAt), true);
    return generateOrderFromPlan({
      ...{ random: orderRandom, restaurant, tillId, times, occupiedUntil, operator, cashier },
      plan: training ? { ...plan, kind: "training" } : plan,
      fiscalNumber: index + 1,
    });
  });

  const notes = ["RAS", "Terrasse fermée à cause de la pluie", "Panne du TPE à midi"];
  const note = random.chance(0.2) ? random.pick(notes) : null;
  const startedAt = epochMsToUtcDateTime(serviceDay.opensAtMs);
  const finalizedAt = epochMsToUtcDateTime(serviceDay.closesAtMs);
  return {
    ...buildGeneratedTillFromOrders(restaurant, { id: tillId, startedAt, finalizedAt, reportNumber, orderList }),
    note,
    isTraining: training,
    ...computeCashDrawer(random, restaurant, serviceDay, { orders: orderList, isCashCounted: options.isCashCounted }),
    clerkShiftList: shifts.map(({ clerk, from, to }) => ({
      ...clerk,
      clockInDate: epochMsToUtcDateTime(from),
      clockOutDate: to === null ? null : epochMsToUtcDateTime(to),
    })),
  };
}

const tillDefaults = getSchemaFieldDefaults(TillV2.shape);

/** Returns a till with these closed orders. It has no cash balances, no cash movements and no clerk shifts. */
export function buildGeneratedTillFromOrders(
  { establishment, device, clerks }: GeneratedRestaurant,
  closed: Pick<TillV2, "id" | "startedAt" | "finalizedAt" | "reportNumber" | "orderList">,
): GeneratedTill {
  return {
    ...tillDefaults,
    ...closed,
    ...establishment,
    deviceName: device.name,
    deviceIdentifier: device.id,
    clerkName: clerks[0]?.name ?? null,
    clerkId: clerks[0]?.id ?? null,
    financialMovementList: [],
    declaredPaymentList: createDeclaredPayments(closed.orderList),
    clerkShiftList: [],
  };
}

type Movement = TillV2["financialMovementList"][number];
type DeclaredPayment = TillV2["declaredPaymentList"][number];

function computeCashDrawer(
  random: SeededRandom,
  restaurant: GeneratedRestaurant,
  day: SimulatedDayOpeningHours,
  { orders, isCashCounted }: { orders: readonly PosOrderData[]; isCashCounted: boolean | undefined },
) {
  const initialCashBalance = random.integer(30, 60) * 500;
  const plannedMovements = planMovements(random, orders.length);
  const cashPayments = listReceivedPayments(orders).filter(({ paymentMode }) => paymentMode === "cash");
  const expectedBalance =
    initialCashBalance + sumFieldOfRows(cashPayments, "amount") + sumFieldOfRows(plannedMovements, "amount");
  // The owner adds cash if the balance would be negative, because a drawer cannot contain less than nothing.
  if (expectedBalance < 0)
    plannedMovements.push({ type: "cash-in", name: "Apport du gérant", amount: -expectedBalance });
  return {
    initialCashBalance,
    finalCashBalance: (isCashCounted ?? random.chance(0.9)) ? Math.max(0, expectedBalance) : null,
    financialMovementList: plannedMovements.map((movement) => createMovement(random, restaurant, day, movement)),
  };
}

/** Returns the payments that the clerk declares at closing, by method. Training orders and tips are excluded. */
function createDeclaredPayments(orders: readonly PosOrderData[]): DeclaredPayment[] {
  const byMethod = new Map<string | null, DeclaredPayment & { quantity: number }>();
  for (const { paymentId, paymentMode, name, amount, paymentType } of listReceivedPayments(orders)) {
    if (paymentType === "tip") continue;
    const emptyPayment = { paymentMode, paymentAmount: 0, quantity: 0, paymentId, paymentName: name };
    const declared = byMethod.get(paymentId) ?? emptyPayment;
    declared.paymentAmount += amount;
    declared.quantity += 1;
    byMethod.set(paymentId, declared);
  }
  return [...byMethod.values()];
}

function listReceivedPayments(orders: readonly PosOrderData[]) {
  return orders
    .filter(({ isTraining }) => !isTraining)
    .flatMap(({ paymentRowList }) => paymentRowList)
    .filter(({ status }) => status === "validated");
}

function planMovements(random: SeededRandom, orderCount: number) {
  const planSome = (expectedCount: number, type: Movement["type"], plan: () => [name: string, amount: number]) =>
    Array.from({ length: random.quota(expectedCount) }, () => {
      const [name, amount] = plan();
      return { type, name, amount };
    });
  const purchases = ["Achat pain", "Achat glaçons", "Fleurs"];
  return [
    ...planSome(0.4 + orderCount / 300, "cash-in", () => ["Appoint monnaie", random.integer(2, 10) * 1000]),
    ...planSome(0.5 + orderCount / 300, "cash-out", () => [random.pick(purchases), -random.integer(400, 3500)]),
    ...planSome(orderCount / 150, "deposit", () => ["Arrhes banquet", random.integer(4, 20) * 1000]),
    ...planSome(orderCount / 150, "customerAccount", () => ["Règlement de compte", random.integer(2000, 12000)]),
  ];
}

function createMovement(
  random: SeededRandom,
  restaurant: GeneratedRestaurant,
  day: SimulatedDayOpeningHours,
  movement: Pick<Movement, "type" | "name" | "amount">,
): Movement {
  const { cash } = restaurant.paymentMethods;
  const [manager] = restaurant.clerks;
  const hasCustomer = movement.type === "deposit" || movement.type === "customerAccount";
  const customer = hasCustomer ? random.pick(restaurant.regulars) : null;
  return {
    id: random.uuid(),
    ...movement,
    recordedAt: epochMsToUtcDateTime(random.integer(day.opensAtMs / 1000, day.closesAtMs / 1000) * 1000),
    deviceIdentifier: restaurant.device.id,
    deviceName: restaurant.device.name,
    operatorId: manager?.id ?? null,
    operatorName: manager?.name ?? null,
    currencyCode: "EUR",
    paymentMode: cash.mode,
    paymentId: cash.id,
    paymentName: cash.name,
    customerId: customer?.key ?? null,
    customerName: customer?.name ?? null,
  };
}
