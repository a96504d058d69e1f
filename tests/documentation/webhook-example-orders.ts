import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import {
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
} from "./example-order.ts";

export const tillId = createExampleUuid(3099);
export const day = "2026-06-01";

/** Returns an order of the documented day, with other times than the default ones of example orders. */
export function createOrder(...order: Parameters<typeof createExampleOrder>): ReturnType<typeof createExampleOrder> {
  return JSON.parse(JSON.stringify(createExampleOrder(...order)).replaceAll("2026-05-31", day));
}

export const wine = createExampleProductRow(3001, "Verre de vin", 600);
const steak = createExampleProductRow(3002, "Entrecôte frites", 1950);
export const open = { isPaid: false, closedAt: null };
export const opened = createOrder(3000, { products: [wine, steak], payments: [] }, { ...open, tableName: "7" });
const payment = createExamplePaymentRow(3003, 2550);
export const paid = createOrder(
  3000,
  { products: [wine, steak], payments: [payment] },
  { tableName: "7", paidAt: `${day}T11:10:00.000Z`, modifiedAt: `${day}T11:10:00.000Z` },
);

const salad = createExampleProductRow(3011, "Salade niçoise", 1400);
export const canceled = createOrder(
  3010,
  { products: [salad], payments: [] },
  {
    tableName: "9",
    isCanceled: true,
    canceledAt: `${day}T10:25:00.000Z`,
    closedAt: `${day}T10:25:00.000Z`,
    modifiedAt: `${day}T10:25:00.000Z`,
    canceledReason: "Client parti",
  },
);

const special = createExampleProductRow(3021, "Plat du jour", 1600);
export const transferred = createOrder(
  3020,
  { products: [special], payments: [] },
  {
    tableName: "4",
    isTransferred: true,
    transferredAt: `${day}T11:10:00.000Z`,
    modifiedAt: `${day}T11:10:00.000Z`,
    transferredTo: "Chambre 12",
  },
);
/** Returns the order as it was before it was canceled or transferred. */
export function reopenExampleOrder(order: typeof paid): typeof paid {
  const notCanceled = { isCanceled: false, canceledAt: null, canceledReason: null };
  const notTransferred = { isTransferred: false, transferredAt: null, transferredTo: null };
  return { ...order, ...open, ...notCanceled, ...notTransferred, modifiedAt: null };
}

export const till = {
  ...tillV2Example,
  ...{ id: tillId, reportNumber: 26, financialMovementList: [], declaredPaymentList: [], clerkShiftList: [] },
  ...{ startedAt: `${day}T09:30:00.000Z`, finalizedAt: `${day}T13:05:00.000Z` },
  orderList: [paid, canceled, transferred],
};
