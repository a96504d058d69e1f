import { tillV2Example } from "@pragma/contracts/examples/till-v2";
import type { TillV2Input } from "@pragma/contracts/till-v2";
import { exampleId, menu, order, payment, product } from "./order-rows.ts";

const discount = (number: number, amount: number, discountGroupId: string) => ({
  id: exampleId(number),
  amount,
  status: "validated" as const,
  splitAllowed: true,
  name: "Happy hour -20 %",
  discountId: exampleId(800_001),
  discountGroupId,
});

/** The orders of a day on which everything happened that is not a plain sale, one of each. */
export const edgeOrders = {
  /** Two guests share a bottle: a child row carries half of the money. */
  split: order(101, {
    products: [
      product(1011, "Bordeaux 75 cl", 2800, { totalRow: 1400, taxableAmount: 1273, taxAmount: 127 }),
      product(1012, "Bordeaux 75 cl", 2800, {
        productId: exampleId(901_011),
        parentProductRowId: exampleId(1011),
        totalRow: 1400,
        taxableAmount: 1273,
        taxAmount: 127,
      }),
    ],
    payments: [payment(1013, 1400), payment(1014, 1400)],
  }),
  /** Something was taken off after the bill had been printed. */
  canceledRow: order(
    102,
    {
      products: [
        product(1021, "Burger maison", 1650),
        product(1022, "Café", 250, {
          isCanceled: true,
          canceledReason: "Erreur de saisie",
          modifiedAt: "2026-05-31T11:05:00.000Z",
        }),
      ],
    },
    { firstBillPrintDate: "2026-05-31T11:00:00.000Z" },
  ),
  canceled: order(
    103,
    { products: [product(1031, "Salade niçoise", 1400)] },
    { isCanceled: true, canceledAt: "2026-05-31T10:25:00.000Z", canceledReason: "Client parti" },
  ),
  transferred: order(
    104,
    { products: [product(1041, "Petit déjeuner", 1900)] },
    { isTransferred: true, transferredAt: "2026-05-31T11:00:00.000Z", transferredTo: "Chambre 12" },
  ),
  loss: order(105, {
    products: [
      product(1051, "Verre de vin", 600),
      product(1052, "Verre de vin", 600, { isLoss: true, lossReason: "Cassé" }),
    ],
  }),
  refund: order(
    106,
    { products: [product(1061, "Tarte tatin", 850, { quantity: -1 })] },
    { guestsCount: 0, manuallyClosed: true },
  ),
  weight: order(107, { products: [product(1071, "Côte de bœuf", 7900, { weight: 0.642 })] }),
  menu: order(108, {
    menus: [
      menu(1081, "Formule midi", [
        product(1082, "Soupe à l'oignon", 690, { menuStepName: "Entrée", menuStepIndex: 0 }),
        product(1083, "Entrecôte frites", 1300, { menuStepName: "Plat", menuStepIndex: 1 }),
      ]),
    ],
  }),
  groupDiscount: order(109, {
    products: [
      product(1091, "Pinte blonde", 800, { discountRowList: [discount(1092, 160, exampleId(1093))] }),
      product(1094, "Planche mixte", 1500, { discountRowList: [discount(1095, 300, exampleId(1093))] }),
    ],
  }),
  training: order(110, { products: [product(1101, "Essai", 1000)] }, { isTraining: true }),
} as const;

const header = { ...tillV2Example, financialMovementList: [], declaredPaymentList: [], clerkShiftList: [] };

/** The till of that day. */
export const edgeTill: TillV2Input = {
  ...header,
  id: "0d7c1a52-6a0b-4b53-9d0c-3f6f1f3d0e31",
  reportNumber: 25,
  startedAt: "2026-05-31T08:00:00.000Z",
  finalizedAt: "2026-05-31T15:05:00.000Z",
  orderList: Object.values(edgeOrders),
} as TillV2Input;
