import type { InconsistentTillFigures } from "@pragma/contracts/accounting-export";
import { percentToBasisPoints } from "@pragma/contracts/money";
import { AggregateMap } from "../aggregate-map.ts";
import type { ReportableOrder } from "../reportable-orders.ts";
import { computeOrderSettlement, sum } from "./order-settlement.ts";

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
  type Group = Pick<InconsistentOrders, "code" | "taxRate" | "includesChange" | "orders">;
  const groups = new AggregateMap<Group>();
  for (const reportable of soldOrders) {
    const { order, rows } = reportable;
    const { paid, unpaid, overpaid, includesChange } = computeOrderSettlement(reportable);
    const add = (code: Group["code"], taxRate: number | null, amount: number) => {
      if (amount === 0) return;
      const group = groups.getOrCreate([code, taxRate], () => ({ code, taxRate, includesChange: true, orders: [] }));
      group.includesChange &&= code === "payments" && includesChange;
      group.orders.push({ orderId: order.id, amount });
    };
    const byRate = new AggregateMap<{ taxRate: number; amounts: number[] }>();
    for (const { row } of rows) {
      const taxRate = percentToBasisPoints(row.taxRate);
      const rate = byRate.getOrCreate([taxRate], () => ({ taxRate, amounts: [] }));
      rate.amounts.push(row.totalRow, -row.taxableAmount, -row.taxAmount);
    }
    for (const { taxRate, amounts } of byRate.values()) add("vat", taxRate, sum(amounts));
    add("products", null, sum([order.total, ...rows.map(({ row }) => -row.totalRow)]));
    add("payments", null, sum([order.total, -paid, -unpaid, overpaid]));
  }
  return groups
    .values()
    .filter(({ code, orders }) => {
      const gap = sum(orders.map(({ amount }) => amount));
      return Math.abs(gap) > (code === "vat" ? maxVatRounding : 0);
    })
    .map(({ orders, ...group }) => ({
      ...group,
      orderCount: orders.length,
      orders: orders.toSorted((a, b) => Math.abs(b.amount) - Math.abs(a.amount)).slice(0, maxOrdersPerGap),
    }));
}
