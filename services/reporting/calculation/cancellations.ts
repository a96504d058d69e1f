import { isUtcBefore } from "@pragma/contracts/date-time";
import type { PosOrderData } from "@pragma/contracts/order-data";
import { flattenOrderProductRows } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { cleanAggregates, groupByKey, sum } from "./groups.ts";
import type { ReportableOrder } from "./reportable-orders.ts";

type Cancellation = ReportV2["reportCancellations"][number];

/**
 * Returns the canceled rows of an order: all rows, with the reason of the order, if the order is canceled. Transferred
 * orders and rows do not count as canceled.
 */
export function getCanceledProductRowsOfOrder(order: PosOrderData) {
  if (order.isTransferred) return [];
  const rows = flattenOrderProductRows(order).filter((row) => !row.isTransferred);
  if (order.isCanceled) {
    return rows.map((row) => ({ row, reason: order.canceledReason, canceledAt: order.canceledAt }));
  }
  return rows
    .filter((row) => row.isCanceled)
    .map((row) => ({ row, reason: row.canceledReason, canceledAt: row.modifiedAt }));
}

/** Returns the canceled rows of an order, each with whether it was canceled after the first print of the bill. */
export function listReportableCancellations(order: PosOrderData) {
  return getCanceledProductRowsOfOrder(order).map(({ row, reason, canceledAt }) => ({
    row,
    name: reason ?? "",
    afterFinalization:
      order.firstBillPrintDate !== null && canceledAt !== null && isUtcBefore(order.firstBillPrintDate, canceledAt),
  }));
}

/** Groups canceled rows by reason, and by whether they were canceled after the first print of the order's bill. */
export function groupCancellations(orders: ReportableOrder[]): Cancellation[] {
  const cancellations = orders.flatMap(({ order }) => listReportableCancellations(order));
  const groups = groupByKey(cancellations, ({ name, afterFinalization }) => [name, afterFinalization]);
  const aggregates = groups.map((group) => ({
    quantity: sum(group.map(({ row }) => row.quantity)),
    amount: sum(group.map(({ row }) => row.totalRow)),
    afterFinalization: group[0].afterFinalization,
    name: group[0].name,
  }));
  return cleanAggregates(aggregates, ({ amount }) => [amount]);
}
