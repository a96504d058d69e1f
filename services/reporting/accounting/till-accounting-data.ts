import { addMoneyAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import type { TillV2 } from "@pragma/contracts/till-v2";
import {
  isPaymentReducingAmountDue,
  type ReportableOrder,
  toReportableOrders,
} from "../calculation/reportable-orders.ts";

/**
 * The figures of a till that journal entries need and that its report does not contain. They are stored as JSON.
 * Amounts are in minor units. Days are YYYY-MM-DD in the location's time zone.
 */
export interface TillAccountingData {
  /** The day on which the shift began. The till's journal entries have this date. */
  day: string;
  /** The day on which the shift was closed and its figures became final. */
  closedOn: string;
  /** Sales of products including VAT, by VAT rate in hundredths of a percent. */
  salesByRate: { taxRate: number; total: number }[];
  /** Payments for sales, without tips. */
  paid: number;
  /**
   * Payments for orders that were canceled or transferred, without tips. The money was received, so it is booked.
   * `TillFigures` call them `paidForUnsold`; here, the name is that of the JSON that version 1.0 stored.
   */
  paidInVain: number;
  /** The total that customers still owe for sales. */
  unpaid: number;
  /**
   * The total that is owed to customers: orders whose amount left to pay is negative, such as refunds that were not
   * paid out.
   */
  owed: number;
  /** Cash at the start and at the end of the shift; null unless the cash was counted both times. */
  cash: { initial: number; counted: number } | null;
}

/** Returns the accounting data of a till that is not in training mode. `toDay` returns the local day of an instant. */
export function computeTillAccountingData(till: TillV2, toDay: (instant: string) => string): TillAccountingData {
  const orders = toReportableOrders(till.orderList);
  const soldOrders = orders.filter(({ isSale }) => isSale);
  const unpaidAmounts = soldOrders.map(unpaidAmount);
  const { initialCashBalance: initial, finalCashBalance: counted } = till;
  return {
    day: toDay(till.startedAt),
    closedOn: toDay(till.finalizedAt),
    salesByRate: totalsByVatRate(soldOrders),
    paid: sum(soldOrders.map(settledAmount)),
    paidInVain: sum(orders.filter(({ isSale }) => !isSale).map(settledAmount)),
    unpaid: sum(unpaidAmounts.filter((amount) => amount > 0)),
    owed: sum(unpaidAmounts.filter((amount) => amount < 0).map((amount) => -amount)),
    cash: initial === null || counted === null ? null : { initial, counted },
  };
}

function totalsByVatRate(orders: ReportableOrder[]): TillAccountingData["salesByRate"] {
  const totals = new Map<number, number>();
  for (const { row } of orders.flatMap(({ rows }) => rows)) {
    const rate = percentToBasisPoints(row.taxRate);
    totals.set(rate, addMoneyAmounts(totals.get(rate) ?? 0, row.totalRow));
  }
  return [...totals].map(([taxRate, total]) => ({ taxRate, total }));
}

function settledAmount({ payments }: ReportableOrder): number {
  return sum(payments.filter(isPaymentReducingAmountDue).map(({ amount }) => amount));
}

/**
 * Returns the amount of an order that is left to pay; negative if it is owed to the customer. For a refund, the amount
 * is computed from the total and the payments, because some points of sale declare 0 instead of a negative amount.
 */
function unpaidAmount(reportable: ReportableOrder): number {
  const { total, leftToPay: declared } = reportable.order;
  return total < 0 ? total - settledAmount(reportable) : declared;
}

function sum(amounts: number[]): number {
  return amounts.reduce(addMoneyAmounts, 0);
}
