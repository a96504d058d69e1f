import type { PosOrderData } from "@pragma/contracts/order-data";
import type { GeneratedTill } from "./generate-till.ts";
import { SeededRandom } from "./random.ts";

const dayMs = 24 * 60 * 60 * 1000;

/** `change` gets a paid order with one product and one payment. */
function changeOrder(till: GeneratedTill, change: (order: PosOrderData) => PosOrderData): GeneratedTill {
  const chosen = findPlainOrder(till);
  return { ...till, orderList: till.orderList.map((order) => (order === chosen ? change(order) : order)) };
}

function findPlainOrder({ orderList }: GeneratedTill): PosOrderData {
  const order = orderList.find(
    ({ isPaid, isCanceled, isTransferred, isTraining, total, totalDiscount, menuRowList, productRowList }) =>
      isPaid &&
      !(isCanceled || isTransferred || isTraining) &&
      total > 0 &&
      totalDiscount === 0 &&
      menuRowList.length === 0 &&
      productRowList.every((row) => !row.isCanceled && row.totalRow > 0),
  );
  if (!order) throw new Error("The till has no order without special cases.");
  return order;
}

/** Returns a copy of an order with another id, without payments. */
function copyOrder(till: GeneratedTill, name: string): PosOrderData {
  const random = new SeededRandom(`${name}/${till.id}`);
  const order = findPlainOrder(till);
  const productRowList = order.productRowList.map((row) => ({ ...row, id: random.uuid() }));
  return { ...order, id: random.uuid(), revisionHash: random.uuid(), paymentRowList: [], productRowList };
}

function addToFirst<Name extends string, Item extends Record<Name, number>>(
  items: readonly Item[],
  name: Name,
  amount: number,
): Item[] {
  return items.map((item, index) => (index === 0 ? { ...item, [name]: item[name] + amount } : item));
}

/** A refund of a product that the till does not sell. Its amounts are those of the order, negated. */
function createRefundOrder(till: GeneratedTill): PosOrderData {
  const order = copyOrder(till, "refund");
  return {
    ...order,
    ...{ total: -order.total, totalTax: -order.totalTax, totalWithoutTax: -order.totalWithoutTax, leftToPay: 0 },
    productRowList: order.productRowList.map((row) => ({
      ...row,
      // Not a product of the catalog, of which the till may contain sales.
      ...{ productId: null, name: `Remboursement ${row.name}` },
      quantity: -row.quantity,
      ...{ totalRow: -row.totalRow, totalRowWithModifier: -row.totalRowWithModifier },
      ...{ taxAmount: -row.taxAmount, taxableAmount: -row.taxableAmount },
      modifierRowList: [],
      discountRowList: [],
    })),
  };
}

function addPayOutWithWrongSign(till: GeneratedTill): GeneratedTill {
  const amount = 1_500;
  const movement = {
    ...{ id: new SeededRandom(`pay-out/${till.id}`).uuid(), type: "cash-out" as const, name: "Fleurs", amount },
    ...{ recordedAt: till.startedAt, deviceIdentifier: till.deviceIdentifier, deviceName: till.deviceName },
    ...{ operatorId: null, operatorName: null, customerId: null, customerName: null },
    ...{ currencyCode: "EUR", paymentMode: "cash" as const, paymentId: null, paymentName: null },
  };
  return {
    ...till,
    financialMovementList: [...till.financialMovementList, movement],
    finalCashBalance: (till.finalCashBalance ?? 50_000) + amount,
  };
}

/** What is unusual about some days, once in thirty days, by the check that fails. It can affect the next day, too. */
const demoDayCases = [
  ["report_number_gaps", (till) => ({ ...till, reportNumber: till.reportNumber + 1 })],
  [
    "shift_overlaps",
    (till) => ({ ...till, finalizedAt: new Date(Date.parse(till.startedAt) + dayMs + 1).toISOString() }),
  ],
  [
    "recorded_payments",
    (till) => ({ ...till, declaredPaymentList: addToFirst(till.declaredPaymentList, "paymentAmount", -1_000) }),
  ],
  ["sales", (till) => changeOrder(till, (order) => ({ ...order, paymentRowList: [], leftToPay: 0 }))],
  ["cash", (till) => ({ ...till, finalCashBalance: (till.finalCashBalance ?? 50_000) + 500 })],
  ["order_totals", (till) => changeOrder(till, (order) => ({ ...order, total: order.total + 100 }))],
  [
    "taxes",
    (till) =>
      changeOrder(till, (order) => ({
        ...order,
        totalTax: order.totalTax + 1,
        productRowList: addToFirst(order.productRowList, "taxAmount", 1),
      })),
  ],
  ["order_taxes", (till) => changeOrder(till, (order) => ({ ...order, totalTax: order.totalTax + 10 }))],
  [
    "order_net_totals",
    (till) => changeOrder(till, (order) => ({ ...order, totalWithoutTax: order.totalWithoutTax + 10 })),
  ],
  ["order_discounts", (till) => changeOrder(till, (order) => ({ ...order, totalDiscount: 10 }))],
  [
    "cancellations_after_bill",
    (till) => {
      const order = copyOrder(till, "canceled");
      const canceled = { isPaid: false, isCanceled: true, canceledAt: till.finalizedAt, leftToPay: 0 };
      return { ...till, orderList: [...till.orderList, { ...order, ...canceled, firstBillPrintDate: order.openedAt }] };
    },
  ],
  ["refunds_without_sale", (till) => ({ ...till, orderList: [...till.orderList, createRefundOrder(till)] })],
  ["orders_without_till", (till) => till],
  ["movement_signs", (till) => addPayOutWithWrongSign(till)],
] as const satisfies [string, (till: GeneratedTill) => GeneratedTill][];

export const demoDayCount = 30;

/** Returns the name of the check that fails on a day, and the change of its till. Every second day has a case. */
export function findDemoDayCase(day: string) {
  const index = ((Date.parse(day) - Date.parse("2024-01-01")) / dayMs) % demoDayCount;
  return index % 2 === 0 ? demoDayCases[index / 2] : undefined;
}

/** Returns an order of the day's shift that is sent as a live order, and that the till does not contain. */
export function createDemoOrderWithoutTill(till: GeneratedTill): PosOrderData {
  const order = copyOrder(till, "without till");
  return { ...order, tillId: till.id, isPaid: false, closedAt: null, leftToPay: order.total };
}
