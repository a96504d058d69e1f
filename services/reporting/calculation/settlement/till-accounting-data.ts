import { addMoneyAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { type ReportableOrder, toReportableOrders } from "../reportable-orders.ts";
import { type ChangeByOtherMethod, listChangeByOtherMethods } from "./change-by-other-methods.ts";
import { type InconsistentOrders, listInconsistentOrders } from "./inconsistent-orders.ts";
import { computeOrderSettlement, sum } from "./order-settlement.ts";

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
  /** Payments for orders that were canceled or transferred, without tips. The money was received, so it is booked. */
  paidForUnsold: number;
  /** The total that customers still owe for sales. */
  unpaid: number;
  /**
   * The total that is owed to customers: orders whose amount left to pay is negative, such as refunds that were not
   * paid out.
   */
  owed: number;
  /** The total that guests paid beyond the totals of their orders. */
  overpaid: number;
  changeByOtherMethods: ChangeByOtherMethod[];
  /** The orders that cause gaps; empty if the figures of the till are consistent. */
  inconsistentOrders: InconsistentOrders[];
  /** Cash at the start and at the end of the shift; null unless the cash was counted both times. */
  cash: { initial: number; counted: number } | null;
}

/** Returns the accounting data of a till that is not in training mode. `toDay` returns the local day of an instant. */
export function computeTillAccountingData(till: TillV2, toDay: (instant: string) => string): TillAccountingData {
  const orders = toReportableOrders(till.orderList);
  const soldOrders = orders.filter(({ isSale }) => isSale);
  const settlements = soldOrders.map(computeOrderSettlement);
  const unpaidAmounts = settlements.map(({ unpaid }) => unpaid);
  const unsold = orders.filter(({ isSale }) => !isSale).map(computeOrderSettlement);
  const { initialCashBalance: initial, finalCashBalance: counted } = till;
  return {
    day: toDay(till.startedAt),
    closedOn: toDay(till.finalizedAt),
    salesByRate: totalsByVatRate(soldOrders),
    paid: sum(settlements.map(({ paid }) => paid)),
    paidForUnsold: sum(unsold.map(({ paid }) => paid)),
    unpaid: sum(unpaidAmounts.filter((amount) => amount > 0)),
    owed: sum(unpaidAmounts.filter((amount) => amount < 0).map((amount) => -amount)),
    overpaid: sum(settlements.map(({ overpaid }) => overpaid)),
    changeByOtherMethods: listChangeByOtherMethods(orders),
    inconsistentOrders: listInconsistentOrders(soldOrders),
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
