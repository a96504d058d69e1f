import { percentToBasisPoints } from "@pragma/contracts/money";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TillV2 } from "@pragma/contracts/till-v2";
import { groupByKey, sum } from "../groups.ts";
import { toReportableOrders } from "../reportable-orders.ts";
import { type ChangeByOtherMethod, listChangeByOtherMethods } from "./change-by-other-methods.ts";
import { type InconsistentOrders, listInconsistentOrders } from "./inconsistent-orders.ts";
import { computeOrderSettlement } from "./order-settlement.ts";

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
  paid: number;
  /** Payments for orders that were canceled or transferred, without tips. The money was received, so it is booked. */
  paidForUnsold: number;
  unpaid: number;
  /** The total that is owed to customers, such as refunds that were not paid out. */
  owed: number;
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
    salesByRate: groupByKey(
      soldOrders.flatMap(({ rows }) => rows),
      ({ row }) => [percentToBasisPoints(row.taxRate)],
    ).map((group) => ({
      taxRate: percentToBasisPoints(group[0].row.taxRate),
      total: sum(group.map(({ row }) => row.totalRow)),
    })),
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

/** Sales at a VAT rate (in hundredths of a percent): net price and VAT in the report, and the price of the products. */
export interface VatRateSales {
  taxRate: number;
  taxable: number;
  tax: number;
  total: number;
}

/** Returns the report's sales by VAT rate. Taxes with the same rate are added up, even if their names differ. */
export function computeSalesByVatRate(
  { reportTaxes }: Pick<ReportV2, "reportTaxes">,
  { salesByRate }: Pick<TillAccountingData, "salesByRate">,
): VatRateSales[] {
  const rows = [
    ...reportTaxes.map(({ taxRate, taxableAmount: taxable, taxAmount: tax }) => ({ taxRate, taxable, tax, total: 0 })),
    ...salesByRate.map(({ taxRate, total }) => ({ taxRate, taxable: 0, tax: 0, total })),
  ];
  return groupByKey(rows, ({ taxRate }) => [taxRate]).map(addUpVatRates);
}

/** Returns the sum of sales, with the VAT rate of the first. */
export function addUpVatRates(sales: [VatRateSales, ...VatRateSales[]]): VatRateSales {
  return {
    taxRate: sales[0].taxRate,
    taxable: sum(sales.map(({ taxable }) => taxable)),
    tax: sum(sales.map(({ tax }) => tax)),
    total: sum(sales.map(({ total }) => total)),
  };
}
