import type { PosOrderData } from "@pragma/contracts/order-data";
import type {
  PosOrderDiscountRow,
  PosOrderMenuRow,
  PosOrderModifierRow,
  PosOrderPaymentRow,
  PosOrderProductRow,
} from "@pragma/contracts/order-rows";
import { minimalTestOrder, minimalTestTill } from "@pragma/contracts/testing/minimal-till-v2";
import { TillV2, type TillV2Input } from "@pragma/contracts/till-v2";
import type { z } from "zod";

/** Fixtures for small tills. Each function takes the fields that matter to a test, and adds defaults for all others. */

type PartialInput<Schema extends z.ZodType> = Partial<z.input<Schema>>;

let lastId = 0;

function newId(): string {
  lastId += 1;
  return `00000000-0000-4000-8000-${String(lastId).padStart(12, "0")}`;
}

/** Returns a till that contains these orders. */
export function buildTestTill(orderList: TillV2Input["orderList"], fields: Partial<TillV2Input> = {}): TillV2 {
  return TillV2.parse({ ...minimalTestTill, id: newId(), orderList, ...fields });
}

/** Returns an order with a total of 0 and without rows. */
export function buildTestOrder(fields: PartialInput<typeof PosOrderData> = {}): z.input<typeof PosOrderData> {
  return { ...minimalTestOrder, id: newId(), ...fields };
}

/** Returns a product row of 11.00 including 10% VAT. */
export function buildTestOrderProductRow(
  fields: PartialInput<typeof PosOrderProductRow> = {},
): z.input<typeof PosOrderProductRow> {
  return {
    id: newId(),
    productId: "pizza",
    name: "Pizza",
    categoryName: "Cuisine",
    subCategoryName: "Pizze",
    taxId: "ten",
    taxName: "TVA 10%",
    taxRate: 10,
    taxAmount: 100,
    taxableAmount: 1000,
    unitPriceRow: 1100,
    unitPriceRowWithModifier: 1100,
    totalRowWithModifier: 1100,
    totalDiscount: 0,
    totalRow: 1100,
    quantity: 1,
    isTransferred: false,
    isMerged: false,
    isCustomPrice: false,
    validated: true,
    isCanceled: false,
    modifierRowList: [],
    discountRowList: [],
    ...fields,
  };
}

export function buildTestOrderModifierRow(
  fields: PartialInput<typeof PosOrderModifierRow> = {},
): z.input<typeof PosOrderModifierRow> {
  return { id: newId(), amount: 150, name: "Bacon", modifierGroupName: "Suppléments", ...fields };
}

export function buildTestOrderDiscountRow(
  fields: PartialInput<typeof PosOrderDiscountRow> = {},
): z.input<typeof PosOrderDiscountRow> {
  return {
    id: newId(),
    amount: 110,
    status: "validated",
    splitAllowed: true,
    name: "Personnel",
    discountId: "staff",
    ...fields,
  };
}

export function buildTestOrderMenuRow(
  fields: PartialInput<typeof PosOrderMenuRow> = {},
): z.input<typeof PosOrderMenuRow> {
  return { id: newId(), menuId: "lunch", name: "Formule midi", totalRow: 1100, productRowList: [], ...fields };
}

export function buildTestOrderPaymentRow(
  fields: PartialInput<typeof PosOrderPaymentRow> = {},
): z.input<typeof PosOrderPaymentRow> {
  return {
    id: newId(),
    recordedAt: "2026-05-29T13:00:00.000Z",
    amount: 1100,
    changeAmount: 0,
    status: "validated",
    name: "Carte bancaire",
    paymentType: "payment",
    paymentMode: "card",
    paymentId: "card",
    ...fields,
  };
}
