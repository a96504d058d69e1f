import type { z } from "zod";
import type { PosOrderData } from "../order-data.ts";
import type { TillV2Input } from "../till-v2.ts";

/** An order with total 0 and without rows. It lacks all fields that older clients omit. */
export const minimalTestOrder: z.input<typeof PosOrderData> = {
  id: "5529b583-5d06-4005-ab83-6b2fe7f1ace0",
  openedAt: "2026-05-29T12:00:00.000Z",
  total: 0,
  totalTax: 0,
  totalDiscount: 0,
  totalWithoutTax: 0,
  leftToPay: 0,
  guestsCount: 0,
  preparationActivated: true,
  isMerged: false,
  manuallyClosed: false,
  isPaid: true,
  isCanceled: false,
  isPrepaid: false,
  isTransferred: false,
  paymentRowList: [],
  productRowList: [],
  menuRowList: [],
};

/** A till with one order. It lacks all fields that older clients omit. */
export const minimalTestTill: TillV2Input = {
  id: "1ec9cf7f-f9e7-4488-8a7f-fc282b7050b9",
  startedAt: "2026-05-29T08:00:00.000Z",
  finalizedAt: "2026-05-30T00:00:00.000Z",
  reportNumber: 1,
  financialMovementList: [],
  declaredPaymentList: [],
  clerkShiftList: [],
  orderList: [minimalTestOrder],
};
