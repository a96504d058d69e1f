import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import {
  createExampleMenuRow,
  createExampleOrder,
  createExamplePaymentRow,
  createExampleProductRow,
  createExampleUuid,
  shiftExampleOrderTimes,
} from "./example-order.ts";

const createDiscountRow = (number: number, amount: number, discountGroupId: string) => ({
  id: createExampleUuid(number),
  amount,
  status: "validated" as const,
  splitAllowed: true,
  name: "Happy hour -20 %",
  discountId: createExampleUuid(800_001),
  discountGroupId,
});

/** Minutes from the time of the other orders, 12:15 to 13:10 in Paris, to other times of the day. */
const minutesFromLunch = { breakfast: -245, afterLunch: 110, happyHour: 345, dinner: 465 };

/** The orders of the edge case till, by name. Every edge case of the documentation occurs in one of them. */
export const documentationEdgeCaseOrders = {
  /** Two guests share the price of a bottle. The original row has half of the price, and a child row the other half. */
  split: createExampleOrder(101, {
    products: [
      createExampleProductRow(1011, "Bordeaux 75 cl", 2800, { totalRow: 1400, taxableAmount: 1273, taxAmount: 127 }),
      createExampleProductRow(1012, "Bordeaux 75 cl", 2800, {
        productId: createExampleUuid(901_011),
        parentProductRowId: createExampleUuid(1011),
        totalRow: 1400,
        taxableAmount: 1273,
        taxAmount: 127,
      }),
    ],
    payments: [createExamplePaymentRow(1013, 1400), createExamplePaymentRow(1014, 1400)],
  }),
  /** One row of the order was canceled after the bill was printed. */
  canceledRow: createExampleOrder(
    102,
    {
      products: [
        createExampleProductRow(1021, "Burger maison", 1650),
        createExampleProductRow(1022, "Café", 250, {
          isCanceled: true,
          canceledReason: "Erreur de saisie",
          modifiedAt: "2026-05-31T11:05:00.000Z",
        }),
      ],
    },
    { firstBillPrintDate: "2026-05-31T11:00:00.000Z" },
  ),
  canceled: createExampleOrder(
    103,
    { products: [createExampleProductRow(1031, "Salade niçoise", 1400)] },
    {
      isCanceled: true,
      canceledAt: "2026-05-31T10:25:00.000Z",
      closedAt: "2026-05-31T10:25:00.000Z",
      canceledReason: "Client parti",
    },
  ),
  /** A coffee that was paid, and then canceled. Its payment is still validated. */
  canceledAfterPayment: createExampleOrder(
    111,
    {
      products: [createExampleProductRow(1111, "Café", 250)],
      payments: [createExamplePaymentRow(1112, 250)],
    },
    { isCanceled: true, canceledAt: "2026-05-31T11:15:00.000Z", canceledReason: "Erreur de saisie", guestsCount: 1 },
  ),
  transferred: shiftExampleOrderTimes(
    createExampleOrder(
      104,
      { products: [createExampleProductRow(1041, "Petit déjeuner", 1900)] },
      { isTransferred: true, transferredAt: "2026-05-31T11:10:00.000Z", transferredTo: "Chambre 12" },
    ),
    minutesFromLunch.breakfast,
  ),
  loss: shiftExampleOrderTimes(
    createExampleOrder(105, {
      products: [
        createExampleProductRow(1051, "Verre de vin", 600),
        createExampleProductRow(1052, "Verre de vin", 600, { isLoss: true, lossReason: "Cassé" }),
      ],
    }),
    minutesFromLunch.dinner,
  ),
  refund: shiftExampleOrderTimes(
    createExampleOrder(
      106,
      { products: [createExampleProductRow(1061, "Tarte tatin", 850, { quantity: -1 })] },
      { guestsCount: 0, manuallyClosed: true },
    ),
    minutesFromLunch.afterLunch,
  ),
  weight: shiftExampleOrderTimes(
    createExampleOrder(107, {
      products: [createExampleProductRow(1071, "Côte de bœuf", 7900, { weight: 0.642 })],
    }),
    minutesFromLunch.dinner,
  ),
  menu: createExampleOrder(108, {
    menus: [
      createExampleMenuRow(1081, "Formule midi", [
        createExampleProductRow(1082, "Soupe à l'oignon", 690, { menuStepName: "Entrée", menuStepIndex: 0 }),
        createExampleProductRow(1083, "Entrecôte frites", 1300, { menuStepName: "Plat", menuStepIndex: 1 }),
      ]),
    ],
  }),
  groupDiscount: shiftExampleOrderTimes(
    createExampleOrder(109, {
      products: [
        createExampleProductRow(1091, "Pinte blonde", 800, {
          discountRowList: [createDiscountRow(1092, 160, createExampleUuid(1093))],
        }),
        createExampleProductRow(1094, "Planche mixte", 1500, {
          discountRowList: [createDiscountRow(1095, 300, createExampleUuid(1093))],
        }),
      ],
    }),
    minutesFromLunch.happyHour,
  ),
  training: createExampleOrder(110, { products: [createExampleProductRow(1101, "Essai", 1000)] }, { isTraining: true }),
} as const;

const tillHeader = {
  ...tillV2Example,
  finalCashBalance: tillV2Example.initialCashBalance,
  financialMovementList: [],
  declaredPaymentList: [],
  clerkShiftList: [],
};

/** The till of the example day with edge cases. It contains every edge case once. */
export const documentationEdgeCaseTill: TillV2Input = {
  ...tillHeader,
  id: "0d7c1a52-6a0b-4b53-9d0c-3f6f1f3d0e31",
  reportNumber: 25,
  startedAt: "2026-05-31T05:30:00.000Z",
  finalizedAt: "2026-05-31T20:40:00.000Z",
  orderList: Object.values(documentationEdgeCaseOrders),
} as TillV2Input;
