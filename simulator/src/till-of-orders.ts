import type { OrderData } from "@pragma/contracts/order-data";
import { declarePayments } from "./cash-drawer.ts";
import type { GeneratedTill } from "./generate-till.ts";
import { sumOf } from "./product-row.ts";
import type { Restaurant } from "./restaurant.ts";

interface ClosedOrders {
  restaurant: Restaurant;
  tillId: string;
  /** At least one, each closed. */
  orders: readonly OrderData[];
  reportNumber: number;
  /** When the till is closed, a date-time in UTC. */
  closedAt: string;
}

/** The till of exactly these orders: it begins when the first of them was opened, and was nothing but sales. */
export function tillOfOrders({ restaurant, tillId, orders, reportNumber, closedAt }: ClosedOrders): GeneratedTill {
  const [lead] = restaurant.clerks;
  const [startedAt = closedAt] = orders.map(({ openedAt }) => openedAt).sort();
  const operators = new Map(orders.flatMap(({ operatorId: id, operatorName }) => (id ? [[id, operatorName]] : [])));
  const cash = orders
    .flatMap(({ paymentRowList }) => paymentRowList)
    .filter(({ status, paymentMode }) => status === "validated" && paymentMode === "cash");
  return {
    id: tillId,
    note: "Service écourté",
    ...restaurant.establishment,
    deviceName: restaurant.device.name,
    deviceIdentifier: restaurant.device.id,
    isTraining: false,
    startedAt,
    finalizedAt: closedAt,
    reportNumber,
    clerkName: lead?.name ?? null,
    clerkId: lead?.id ?? null,
    initialCashBalance: cashFloat,
    finalCashBalance: Math.max(0, cashFloat + sumOf(cash, "amount")),
    financialMovementList: [],
    declaredPaymentList: declarePayments(orders),
    clerkShiftList: [...operators].map(([id, name]) => ({
      id,
      name,
      clockInDate: startedAt,
      clockOutDate: closedAt,
    })),
    orderList: [...orders],
  };
}

/** What is in the drawer at the start, in minor units. */
const cashFloat = 15_000;
