import type { OrderData } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { sumOf } from "./product-row.ts";
import type { Random } from "./random.ts";
import type { Restaurant } from "./restaurant.ts";
import { type ServiceDay, toDateTime } from "./service-day.ts";

type Movement = TillV2["financialMovementList"][number];
type PlannedMovement = Pick<Movement, "type" | "name" | "amount">;
type DeclaredPayment = TillV2["declaredPaymentList"][number];

/** What the drawer held on a day, and the movements that are no sales. The final balance is what adds up. */
export function cashDrawer(random: Random, restaurant: Restaurant, day: ServiceDay, orders: readonly OrderData[]) {
  const initialCashBalance = random.integer(30, 60) * 500;
  const planned = planMovements(random, orders.length);
  const takings = receivedPayments(orders).filter(({ paymentMode }) => paymentMode === "cash");
  const expected = initialCashBalance + sumOf(takings, "amount") + sumOf(planned, "amount");
  // A drawer cannot hold less than nothing: what was missing has been put in.
  if (expected < 0) planned.push({ type: "cash-in", name: "Apport du gérant", amount: -expected });
  return {
    initialCashBalance,
    finalCashBalance: random.chance(0.9) ? Math.max(0, expected) : null,
    financialMovementList: planned.map((movement) => record(random, restaurant, day, movement)),
  };
}

/** What the clerk declares at closing: the payments of every order that is not training, by method. Tips are apart. */
export function declarePayments(orders: readonly OrderData[]): DeclaredPayment[] {
  const byMethod = new Map<string | null, DeclaredPayment & { quantity: number }>();
  for (const { paymentId, paymentMode, name, amount, paymentType } of receivedPayments(orders)) {
    if (paymentType === "tip") continue;
    const unpaid = { paymentMode, paymentAmount: 0, quantity: 0, paymentId, paymentName: name };
    const declared = byMethod.get(paymentId) ?? unpaid;
    declared.paymentAmount += amount;
    declared.quantity += 1;
    byMethod.set(paymentId, declared);
  }
  return [...byMethod.values()];
}

function receivedPayments(orders: readonly OrderData[]) {
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

function record(random: Random, restaurant: Restaurant, day: ServiceDay, movement: PlannedMovement): Movement {
  const { cash } = restaurant.paymentMethods;
  const [lead] = restaurant.clerks;
  const isCustomers = movement.type === "deposit" || movement.type === "customerAccount";
  const customer = isCustomers ? random.pick(restaurant.regulars) : null;
  return {
    id: random.uuid(),
    ...movement,
    recordedAt: toDateTime(random.integer(day.opensAt / 1000, day.closesAt / 1000) * 1000),
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
