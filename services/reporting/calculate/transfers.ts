import { plus } from "@pragma/contracts/money";
import type { OrderData } from "@pragma/contracts/order-data";
import type { ProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { allRows, type CountedOrder } from "./counting.ts";
import { Groups, listed } from "./groups.ts";

type Transfer = ReportV2["reportTransferred"][number];

/** Transferred rows by where they went. */
export function transfers(orders: CountedOrder[]): Transfer[] {
  const groups = new Groups<Transfer>();
  for (const { order } of orders) {
    for (const { row, destination } of transferredRows(order)) {
      const name = destination ?? "";
      const group = groups.of([name], () => ({ amount: 0, quantity: 0, name }));
      group.quantity = plus(group.quantity, row.quantity);
      group.amount = plus(group.amount, row.totalRow);
    }
  }
  return listed(groups.all(), (group) => [group.amount]);
}

/**
 * The transferred rows of an order: all of them when it is transferred itself, else those that are. What was canceled
 * went nowhere.
 */
function transferredRows(order: OrderData): { row: ProductRow; destination: string | null }[] {
  if (order.isCanceled) return [];
  const rows = allRows(order).filter((row) => !row.isCanceled);
  if (order.isTransferred) return rows.map((row) => ({ row, destination: order.transferredTo }));
  return rows.filter((row) => row.isTransferred).map((row) => ({ row, destination: row.transferredTo }));
}
