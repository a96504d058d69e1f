import type { InconsistentTillFigures } from "@pragma/contracts/accounting-export";
import { formatDecimalAmount } from "@pragma/contracts/currency";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { sum } from "../calculation/groups.ts";
import { type InconsistentOrders, maxVatRounding } from "../calculation/settlement/inconsistent-orders.ts";
import { computeSalesByVatRate, type TillAccountingData } from "../calculation/settlement/till-accounting-data.ts";

/**
 * Returns the differences between figures of a till that should be equal. A difference would unbalance the entries.
 * Compares these figures:
 * - for each VAT rate, the prices of products with their net prices plus VAT, which may differ by one cent;
 * - the totals of orders with the prices of their products;
 * - the totals of orders with the amounts paid plus the amounts left to pay, minus what is overpaid.
 *
 * Each difference names the orders that cause it. Amounts in messages are in the given currency.
 */
export function findInconsistentTillFigures(
  report: ReportV2,
  accountingData: TillAccountingData,
  currency: string,
): InconsistentTillFigures[] {
  const formatAmount = (amount: number) => `${formatDecimalAmount(amount, currency)} ${currency}`;
  const describeDifference = (amount: number) =>
    `${formatAmount(Math.abs(amount))} ${amount > 0 ? "is missing" : "is too much"}`;
  const gaps: InconsistentTillFigures[] = [];
  const { paid, unpaid, owed, overpaid = 0, inconsistentOrders = [] } = accountingData;
  const findOrders = (code: InconsistentTillFigures["code"], taxRate: number | null = null) =>
    inconsistentOrders.find((group) => group.code === code && group.taxRate === taxRate);
  for (const { taxRate, taxable, tax, total } of computeSalesByVatRate(report, accountingData)) {
    const rounding = total - taxable - tax;
    if (Math.abs(rounding) <= maxVatRounding) continue;
    const parts = `${formatAmount(taxable)} without VAT plus ${formatAmount(tax)} of VAT`;
    gaps.push({
      code: "vat",
      amount: rounding,
      ...describeOrders(findOrders("vat", taxRate), report),
      message: `Products at ${taxRate / 100} % VAT cost ${formatAmount(total)}, but are reported as ${parts}: ${describeDifference(rounding)}.`,
    });
  }
  const { totalSales } = report;
  const products = sum(accountingData.salesByRate.map(({ total }) => total));
  if (products !== totalSales) {
    gaps.push({
      code: "products",
      amount: totalSales - products,
      ...describeOrders(findOrders("products"), report),
      message: `Orders total ${formatAmount(totalSales)}, but their products cost ${formatAmount(products)}: ${describeDifference(totalSales - products)}.`,
    });
  }
  const paidOrUnpaid = paid + unpaid - owed - overpaid;
  if (paidOrUnpaid !== totalSales) {
    const orders = findOrders("payments");
    const changeHint = orders?.includesChange ? ` ${includedChangeText}` : "";
    gaps.push({
      code: "payments",
      amount: totalSales - paidOrUnpaid,
      ...describeOrders(orders, report),
      message: `Orders total ${formatAmount(totalSales)}, but ${formatAmount(paidOrUnpaid)} is paid or left to pay: ${describeDifference(totalSales - paidOrUnpaid)}.${changeHint}`,
    });
  }
  return gaps;
}

const includedChangeText =
  "The difference is the change of these orders, so their payments probably include it. The `amount` of a payment must be net of change.";

/** Returns the orders of a gap with the fields by which people find them. */
function describeOrders(
  group: InconsistentOrders | undefined,
  report: ReportV2,
): Pick<InconsistentTillFigures, "orderCount" | "orders"> {
  if (!group) return { orderCount: 0, orders: [] };
  const byId = new Map(report.orders.map((order) => [order.id, order]));
  return {
    orderCount: group.orderCount,
    orders: group.orders.map(({ orderId, amount }) => {
      const { openedAt = null, tableName = null, total = null } = byId.get(orderId) ?? {};
      return { orderId, openedAt, tableName, total, amount };
    }),
  };
}
