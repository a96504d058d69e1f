import type { InconsistentTillFigures } from "@pragma/contracts/accounting-export";
import { percentToBasisPoints } from "@pragma/contracts/money";
import { groupByKey, sum } from "../groups.ts";
import type { ReportableOrder } from "../reportable-orders.ts";
import { computeOrderSettlement } from "./order-settlement.ts";

/** Maximum rounding difference that is tolerated for each VAT rate, in minor units. */
export const maxVatRounding = 1;

/** A gap lists at most this number of orders: those with the largest differences. */
const maxOrdersPerGap = 20;

/** The orders that cause a gap of a till, largest difference first. */
export interface InconsistentOrders {
  code: InconsistentTillFigures["code"];
  /** The VAT rate of a gap `vat`, in hundredths of a percent; null for other gaps. */
  taxRate: number | null;
  /** The number of all orders with a difference. `orders` contains only the first ones. */
  orderCount: number;
  /** Whether each difference is the order's change, which the payments then probably include. */
  includesChange: boolean;
  orders: { orderId: string; amount: number }[];
}

/** Returns the orders with different figures, for each pair of figures that differ in the whole till. */
export function listInconsistentOrders(soldOrders: readonly ReportableOrder[]): InconsistentOrders[] {
  const differences = soldOrders.flatMap(listDifferences).filter(({ amount }) => amount !== 0);
  return groupByKey(differences, ({ code, taxRate }) => [code, taxRate])
    .filter((group) => {
      const gap = sum(group.map(({ amount }) => amount));
      return Math.abs(gap) > (group[0].code === "vat" ? maxVatRounding : 0);
    })
    .map((group) => ({
      code: group[0].code,
      taxRate: group[0].taxRate,
      includesChange: group.every(({ includesChange }) => includesChange),
      orderCount: group.length,
      orders: group
        .map(({ orderId, amount }) => ({ orderId, amount }))
        .sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount))
        .slice(0, maxOrdersPerGap),
    }));
}

function listDifferences(reportable: ReportableOrder) {
  const { order, rows } = reportable;
  const { paid, unpaid, overpaid, includesChange } = computeOrderSettlement(reportable);
  const difference = (code: InconsistentOrders["code"], amounts: number[], taxRate: number | null = null) => ({
    ...{ code, taxRate, orderId: order.id, amount: sum(amounts) },
    includesChange: code === "payments" && includesChange,
  });
  const rates = groupByKey(rows, ({ row }) => [percentToBasisPoints(row.taxRate)]);
  return [
    ...rates.map((group) =>
      difference(
        "vat",
        group.flatMap(({ row }) => [row.totalRow, -row.taxableAmount, -row.taxAmount]),
        percentToBasisPoints(group[0].row.taxRate),
      ),
    ),
    difference("products", [order.total, ...rows.map(({ row }) => -row.totalRow)]),
    difference("payments", [order.total, -paid, -unpaid, overpaid]),
  ];
}
