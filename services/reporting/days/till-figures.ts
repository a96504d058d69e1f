import { AmountOutOfRangeError, addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { groupByKey, sum } from "../calculation/groups.ts";
import { toReportableOrders } from "../calculation/reportable-orders.ts";
import { computeCashChange } from "../calculation/settlement/change-by-other-methods.ts";
import {
  addUpVatRates,
  computeSalesByVatRate,
  type TillAccountingData,
} from "../calculation/settlement/till-accounting-data.ts";

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
  cashChange: number;
  /** VAT rate, price without VAT, VAT, and what the product rows add up to. */
  taxes: [number, number, number, number][];
  canceledAfterBill: number;
  /** `owed` includes what guests paid beyond the totals of orders. */
  settlement: Record<"paid" | "paidForUnsold" | "unpaid" | "owed", number>;
  /** Null if the cash was not counted at the start and at the end of the shift. */
  cash: TillAccountingData["cash"];
  /** What orders declare, what their product rows add up to, and refunds of products beyond their sales. */
  orderFigures: ReturnType<typeof computeOrderFigures>;
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

function addUpTillFigures(report: ReportV2, accountingData: TillAccountingData, till: TillV2): TillFigures {
  const { deviceIdentifier, deviceName, startedAt, finalizedAt, reportNumber } = report;
  return {
    ...{ reportNumber, deviceIdentifier, deviceName, startedAt, finalizedAt },
    totalSales: report.totalSales,
    guestsNumber: report.guestsNumber,
    orderCount: report.orderCount,
    discounts: sum(report.reportDiscounts.map(({ discountValue }) => discountValue)),
    productSales: sum(report.reportProducts.map(({ productSales }) => productSales)),
    recordedPayments: groupByKey(report.reportRecordedPayments, ({ paymentMode, paymentType }) => [
      paymentMode,
      paymentType,
    ]).map((group) => [
      ...([group[0].paymentMode, group[0].paymentType] as const),
      sum(group.map(({ totalAmount }) => totalAmount)),
      sum(group.map(({ changeAmount }) => changeAmount)),
      sum(group.map(({ tipsAmount }) => tipsAmount)),
    ]),
    declaredPayments: groupByKey(report.reportPayments, ({ paymentMode }) => [paymentMode]).map((group) => [
      group[0].paymentMode,
      sum(group.map(({ paymentAmount }) => paymentAmount)),
    ]),
    movements: groupByKey(report.reportEntries, ({ paymentMode }) => [paymentMode]).map((group) => [
      group[0].paymentMode,
      sum(group.map(({ entryAmount }) => entryAmount)),
    ]),
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
  const rates = computeSalesByVatRate(report, accountingData).sort((one, other) => one.taxRate - other.taxRate);
  const lastRate = rates[maxTaxRates - 1]?.taxRate ?? Number.POSITIVE_INFINITY;
  return groupByKey(rates, ({ taxRate }) => [Math.min(taxRate, lastRate)])
    .map(addUpVatRates)
    .map(({ taxRate, taxable, tax, total }) => [taxRate, taxable, tax, total]);
}

function computeOrderFigures({ orderList }: TillV2) {
  const sales = toReportableOrders(orderList).filter(({ isSale }) => isSale);
  const orders = sales.map(({ order }) => order);
  const rows = sales.flatMap((order) => order.rows.map(({ row }) => row));
  const products = groupByKey(rows, ({ productId, name }) => [productId, productId === null ? name : null]);
  const refunded = products.filter((product) => product.reduce((units, { quantity }) => units + quantity, 0) < 0);
  return {
    declaredTax: sum(orders.map(({ totalTax }) => totalTax)),
    rowTax: sum(rows.map(({ taxAmount }) => taxAmount)),
    declaredNet: sum(orders.map(({ totalWithoutTax }) => totalWithoutTax)),
    rowNet: sum(rows.map(({ taxableAmount }) => taxableAmount)),
    declaredDiscount: sum(orders.map(({ totalDiscount }) => totalDiscount)),
    rowDiscount: sum(rows.map(({ totalDiscount }) => totalDiscount)),
    refunded: sum(refunded.map((product) => sum(product.map(({ totalRow }) => totalRow)))),
    hasRefundsWithoutSale: refunded.length > 0,
  };
}
