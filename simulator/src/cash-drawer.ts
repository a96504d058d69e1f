import type { OrderData } from "@pragma/contracts/order-data";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { toDateTime } from "./order-times.ts";
import { sumOf } from "./product-row.ts";
import type { Random } from "./random.ts";
import type { Clerk, Restaurant } from "./restaurant.ts";
import type { ServiceDay } from "./service-day.ts";

type Movement = TillV2["financialMovementList"][number];
type DeclaredPayment = TillV2["declaredPaymentList"][number];
type CashFields = Pick<TillV2, "initialCashBalance" | "finalCashBalance" | "financialMovementList">;

interface Drawer {
  random: Random;
  restaurant: Restaurant;
  day: ServiceDay;
  lead: Clerk;
  orders: readonly OrderData[];
}

/** What the drawer held, and the movements that are no sales. The final balance is what adds up. */
export function cashDrawer(drawer: Drawer): CashFields {
  const { random, orders } = drawer;
  const initial = random.integer(30, 60) * 500;
  const planned = planMovements(random, orders.length);
  const takings = sumOf(
    receivedPayments(orders).filter(({ paymentMode }) => paymentMode === "cash"),
    "amount",
  );
  const expected = initial + takings + sumOf(planned, "amount");
  // A drawer cannot hold less than nothing: what was missing has been put in.
  const missing = expected < 0 ? -expected : 0;
  if (missing > 0) planned.push({ type: "cash-in", name: "Apport du gérant", amount: missing });
  return {
    initialCashBalance: initial,
    finalCashBalance: random.chance(0.9) ? expected + missing : null,
    financialMovementList: planned.map((movement) => record(drawer, movement)),
  };
}

/** What the clerk declares at closing: the payments of every order that is not training, by method. Tips are apart. */
export function declarePayments(orders: readonly OrderData[]): DeclaredPayment[] {
  const byMethod = new Map<string | null, DeclaredPayment>();
  for (const { paymentId, paymentMode, name, amount, paymentType } of receivedPayments(orders)) {
    if (paymentType === "tip") continue;
    const soFar = byMethod.get(paymentId) ?? {
      paymentMode,
      paymentAmount: 0,
      quantity: 0,
      paymentId,
      paymentName: name,
    };
    byMethod.set(paymentId, {
      ...soFar,
      paymentAmount: soFar.paymentAmount + amount,
      quantity: (soFar.quantity ?? 0) + 1,
    });
  }
  return [...byMethod.values()];
}

function receivedPayments(orders: readonly OrderData[]) {
  return orders
    .filter(({ isTraining }) => !isTraining)
    .flatMap(({ paymentRowList }) => paymentRowList)
    .filter(({ status }) => status === "validated");
}

type PlannedMovement = Pick<Movement, "type" | "name" | "amount">;

function planMovements(random: Random, orderCount: number): PlannedMovement[] {
  const some = (expected: number, movement: () => PlannedMovement) =>
    Array.from({ length: random.quota(expected) }, movement);
  return [
    ...some(0.4 + orderCount / 300, () => ({
      type: "cash-in",
      name: "Appoint monnaie",
      amount: random.integer(2, 10) * 1000,
    })),
    ...some(0.5 + orderCount / 300, () => ({
      type: "cash-out",
      name: random.pick(["Achat pain", "Achat glaçons", "Fleurs"]),
      amount: -random.integer(400, 3500),
    })),
    ...some(orderCount / 150, () => ({
      type: "deposit",
      name: "Arrhes banquet",
      amount: random.integer(4, 20) * 1000,
    })),
    ...some(orderCount / 150, () => ({
      type: "customerAccount",
      name: "Règlement de compte",
      amount: random.integer(2000, 12000),
    })),
  ];
}

function record({ random, restaurant, day, lead }: Drawer, movement: PlannedMovement): Movement {
  const { cash } = restaurant.paymentMethods;
  const isCustomers = movement.type === "deposit" || movement.type === "customerAccount";
  const customer = isCustomers ? random.pick(restaurant.regulars) : null;
  return {
    id: random.uuid(),
    ...movement,
    recordedAt: toDateTime(random.integer(day.opens / 1000, day.closes / 1000) * 1000),
    deviceIdentifier: restaurant.device.id,
    deviceName: restaurant.device.name,
    operatorId: lead.id,
    operatorName: lead.name,
    currencyCode: "EUR",
    paymentMode: cash.mode,
    paymentId: cash.id,
    paymentName: cash.name,
    customerId: customer?.key ?? null,
    customerName: customer?.name ?? null,
  };
}
