import { AmountOutOfRangeError, addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { toReportableOrders } from "../calculation/reportable-orders.ts";
import { computeCashChange } from "../calculation/settlement/change-by-other-methods.ts";
import type { TillAccountingData } from "../calculation/settlement/till-accounting-data.ts";

type PaymentMode = ReportV2["reportPayments"][number]["paymentMode"];
type RecordedPaymentGroup = ReportV2["reportRecordedPayments"][number];
type Movement = ReportV2["reportEntries"][number];

/**
 * The figures of a till from which its business day is computed and checked. They are stored with the report, compressed
 * to about 350 bytes, also while the till is packed. Amounts are in minor units, VAT rates in hundredths of a percent.
 * Lists have one entry for each mode, type or rate, so that their length has a limit.
 */
export interface TillFigures {
  reportNumber: number;
  deviceIdentifier: string;
  deviceName: string;
  startedAt: string;
  finalizedAt: string;
  totalSales: number;
  guestsNumber: number;
  orderCount: number;
  discounts: number;
  /** What the product rows that count as sales add up to. */
  productSales: number;
  /** Mode, type, amount, change, tips. */
  recordedPayments: [PaymentMode, RecordedPaymentGroup["paymentType"], number, number, number][];
  /** Mode and amount. */
  declaredPayments: [PaymentMode, number][];
  /** Financial movements: mode and amount. */
  movements: [Movement["paymentMode"], number][];
  /** Sums of `cash-in` movements below 0 and `cash-out` movements above 0. */
  misdirectedMovements: { cashIn: number; cashOut: number };
  /** As `computeCashChange` returns it. */
  cashChange: number;
  /** VAT rate, price without VAT, VAT, and what the product rows add up to. */
  taxes: [number, number, number, number][];
  canceledAfterBill: number;
  settlement: TillSettlement;
  /** Null if the cash was not counted at the start and at the end of the shift. */
  cash: TillAccountingData["cash"];
  orderFigures: TillOrderFigures;
}

/** How the sales of a till were paid. */
interface TillSettlement {
  /** Payments for sales. */
  paid: number;
  /** Payments for orders that are not sales, because they were canceled or transferred. */
  paidForUnsold: number;
  unpaid: number;
  /** What is owed to guests, including what they paid beyond the totals of orders. */
  owed: number;
}

/** What orders declare, what their product rows add up to, and refunds of products beyond their sales. */
interface TillOrderFigures {
  declaredTax: number;
  rowTax: number;
  declaredNet: number;
  rowNet: number;
  declaredDiscount: number;
  rowDiscount: number;
  refunded: number;
  hasRefundsWithoutSale: boolean;
}

/** VAT rates beyond this number, which no real till has, are added up as one, at the last of these rates. */
const maxTaxRates = 50;

/** Returns the figures of a till for its business day; null if a sum is too large, which no real till has. */
export function computeTillFigures(
  report: ReportV2,
  accountingData: TillAccountingData,
  till: TillV2,
): TillFigures | null {
  try {
    return addUpTillFigures(report, accountingData, till);
  } catch (error) {
    if (error instanceof AmountOutOfRangeError) return null;
    throw error;
  }
}

/** @throws `AmountOutOfRangeError` */
function addUpTillFigures(report: ReportV2, accountingData: TillAccountingData, till: TillV2): TillFigures {
  const { deviceIdentifier, deviceName, startedAt, finalizedAt, reportNumber } = report;
  return {
    ...{ reportNumber, deviceIdentifier, deviceName, startedAt, finalizedAt },
    totalSales: report.totalSales,
    guestsNumber: report.guestsNumber,
    orderCount: report.orderCount,
    discounts: sum(report.reportDiscounts.map(({ discountValue }) => discountValue)),
    productSales: sum(report.reportProducts.map(({ productSales }) => productSales)),
    recordedPayments: addUpRows(
      report.reportRecordedPayments.map((group) => ({
        key: [group.paymentMode, group.paymentType] as const,
        amounts: { amount: group.totalAmount, change: group.changeAmount, tips: group.tipsAmount },
      })),
    ).map(({ key: [mode, type], amounts: { amount, change, tips } }) => [mode, type, amount, change, tips]),
    declaredPayments: addUpRows(
      report.reportPayments.map(({ paymentMode, paymentAmount }) => ({
        key: [paymentMode] as const,
        amounts: { amount: paymentAmount },
      })),
    ).map(({ key: [mode], amounts: { amount } }) => [mode, amount]),
    movements: addUpRows(
      report.reportEntries.map(({ paymentMode, entryAmount }) => ({
        key: [paymentMode] as const,
        amounts: { amount: entryAmount },
      })),
    ).map(({ key: [mode], amounts: { amount } }) => [mode, amount]),
    misdirectedMovements: {
      cashIn: sumMovements(report, (type, amount) => type === "cash-in" && amount < 0),
      cashOut: sumMovements(report, (type, amount) => type === "cash-out" && amount > 0),
    },
    cashChange: computeCashChange(accountingData.changeByOtherMethods),
    taxes: addUpTaxes(report, accountingData),
    canceledAfterBill: sum(
      report.reportCancellations.filter(({ afterFinalization }) => afterFinalization).map(({ amount }) => amount),
    ),
    settlement: {
      paid: accountingData.paid,
      paidForUnsold: accountingData.paidForUnsold,
      unpaid: accountingData.unpaid,
      owed: addMoneyAmounts(accountingData.owed, accountingData.overpaid),
    },
    cash: accountingData.cash,
    orderFigures: computeOrderFigures(till),
  };
}

function sumMovements(
  { reportEntries }: ReportV2,
  isIncluded: (type: Movement["entryType"], amount: number) => boolean,
): number {
  const entries = reportEntries.filter(({ entryType, entryAmount }) => isIncluded(entryType, entryAmount));
  return sum(entries.map(({ entryAmount }) => entryAmount));
}

function addUpTaxes(report: ReportV2, accountingData: TillAccountingData): TillFigures["taxes"] {
  const prices = accountingData.salesByRate;
  const rates = [
    ...new Set([...report.reportTaxes.map(({ taxRate }) => taxRate), ...prices.map(({ taxRate }) => taxRate)]),
  ].sort((a, b) => a - b);
  const lastRate = rates[maxTaxRates - 1] ?? Number.POSITIVE_INFINITY;
  const rows = [
    ...report.reportTaxes.map(({ taxRate, taxableAmount, taxAmount }) => ({
      key: [Math.min(taxRate, lastRate)] as const,
      amounts: { taxable: taxableAmount, tax: taxAmount, price: 0 },
    })),
    ...prices.map(({ taxRate, total }) => ({
      key: [Math.min(taxRate, lastRate)] as const,
      amounts: { taxable: 0, tax: 0, price: total },
    })),
  ];
  return addUpRows(rows)
    .map(({ key: [rate], amounts: { taxable, tax, price } }): TillFigures["taxes"][number] => [
      rate,
      taxable,
      tax,
      price,
    ])
    .sort(([one], [other]) => one - other);
}

function computeOrderFigures({ orderList }: TillV2): TillOrderFigures {
  const sales = toReportableOrders(orderList).filter(({ isSale }) => isSale);
  const orders = sales.map(({ order }) => order);
  const rows = sales.flatMap((order) => order.rows.map(({ row }) => row));
  const products = new Map<string, { quantity: number; total: number }>();
  for (const { productId, name, quantity, totalRow } of rows) {
    const key = JSON.stringify(productId === null ? { name } : productId);
    const product = products.get(key) ?? { quantity: 0, total: 0 };
    product.quantity += quantity;
    product.total = addMoneyAmounts(product.total, totalRow);
    products.set(key, product);
  }
  const refunded = [...products.values()].filter(({ quantity }) => quantity < 0);
  return {
    declaredTax: sum(orders.map(({ totalTax }) => totalTax)),
    rowTax: sum(rows.map(({ taxAmount }) => taxAmount)),
    declaredNet: sum(orders.map(({ totalWithoutTax }) => totalWithoutTax)),
    rowNet: sum(rows.map(({ taxableAmount }) => taxableAmount)),
    declaredDiscount: sum(orders.map(({ totalDiscount }) => totalDiscount)),
    rowDiscount: sum(rows.map(({ totalDiscount }) => totalDiscount)),
    refunded: sum(refunded.map(({ total }) => total)),
    hasRefundsWithoutSale: refunded.length > 0,
  };
}

/** Returns the sums of the amounts of rows with the same key, in the sequence in which the keys first occur. */
export function addUpRows<Key extends readonly (string | number | null)[], Name extends string>(
  rows: readonly { key: Key; amounts: Record<Name, number> }[],
): { key: Key; amounts: Record<Name, number> }[] {
  const groups = new Map<string, { key: Key; amounts: Record<Name, number> }>();
  for (const { key, amounts } of rows) {
    const text = JSON.stringify(key);
    const group = groups.get(text);
    if (!group) groups.set(text, { key, amounts: { ...amounts } });
    else
      for (const name of Object.keys(amounts) as Name[])
        group.amounts[name] = addMoneyAmounts(group.amounts[name], amounts[name]);
  }
  return [...groups.values()];
}

export function sum(amounts: readonly number[]): number {
  return amounts.reduce(addMoneyAmounts, 0);
}
