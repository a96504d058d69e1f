import { addAmounts, percentToBasisPoints } from "@pragma/contracts/money";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { type CountedOrder, isSettlingPayment, toCountedOrders } from "../calculation/counted-orders.ts";

/**
 * What journal entries need to know of a till beyond its report. Amounts are in minor units, days are those of the
 * location's time zone, YYYY-MM-DD.
 */
export interface TillAccountingData {
  /** When the shift began: the day that its entries are of. */
  day: string;
  /** When the shift was closed: from then on its figures stand. */
  closedOn: string;
  /** What products that count cost, VAT included, by VAT rate in hundredths of a percent. */
  salesByRate: { taxRate: number; total: number }[];
  /** What was paid of orders that count, tips aside. */
  paid: number;
  /** What was paid of orders that were canceled or transferred, tips aside: it is in the drawer all the same. */
  paidInVain: number;
  /** What customers owe for orders that count. */
  unpaid: number;
  /** What customers are owed for orders that count: refunds that were not paid out. */
  owed: number;
  /** Cash at both ends of the shift; null unless it was counted at both. */
  cash: { initial: number; counted: number } | null;
}

/** The facts of a till that is not training. */
export function computeTillAccountingData(till: TillV2, dayOf: (instant: string) => string): TillAccountingData {
  const orders = toCountedOrders(till.orderList);
  const soldOrders = orders.filter(({ isSale }) => isSale);
  const unpaidAmounts = soldOrders.map(unpaidAmount);
  const { initialCashBalance: initial, finalCashBalance: counted } = till;
  return {
    day: dayOf(till.startedAt),
    closedOn: dayOf(till.finalizedAt),
    salesByRate: totalsByVatRate(soldOrders),
    paid: sum(soldOrders.map(settledAmount)),
    paidInVain: sum(orders.filter(({ isSale }) => !isSale).map(settledAmount)),
    unpaid: sum(unpaidAmounts.filter((amount) => amount > 0)),
    owed: sum(unpaidAmounts.filter((amount) => amount < 0).map((amount) => -amount)),
    cash: initial === null || counted === null ? null : { initial, counted },
  };
}

function totalsByVatRate(orders: CountedOrder[]): TillAccountingData["salesByRate"] {
  const totals = new Map<number, number>();
  for (const { row } of orders.flatMap(({ rows }) => rows)) {
    const rate = percentToBasisPoints(row.taxRate);
    totals.set(rate, addAmounts(totals.get(rate) ?? 0, row.totalRow));
  }
  return [...totals].map(([taxRate, total]) => ({ taxRate, total }));
}

function settledAmount({ payments }: CountedOrder): number {
  return sum(payments.filter(isSettlingPayment).map(({ amount }) => amount));
}

/**
 * What the point of sale says is left to pay. Of a refund, some say 0 when it is open, since they know no negative
 * amount there: it is what was not paid out.
 */
function unpaidAmount(counted: CountedOrder): number {
  const { total, leftToPay: declared } = counted.order;
  return total < 0 ? total - settledAmount(counted) : declared;
}

function sum(amounts: number[]): number {
  return amounts.reduce(addAmounts, 0);
}
