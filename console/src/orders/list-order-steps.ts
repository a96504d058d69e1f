import type { ApiSchemaTypes } from "@pragma/client";
import { text } from "../text/text.ts";

type Order = ApiSchemaTypes["OrderData"];
type ProductRow = Order["productRowList"][number];

/** An order, and when the API first received it and last changed it. */
export interface OrderWithTimes {
  order: Order;
  receivedAt: string;
  changedAt: string;
  /** The report of the order's shift; null while the order is live. */
  reportId: string | null;
}

interface OrderStep {
  at: string;
  name: string;
  clerk: string | null;
}

/** Returns what happened to an order, oldest first. Products that a clerk added in the same minute are one step. */
export function listOrderSteps({ order, receivedAt, changedAt, reportId }: OrderWithTimes): OrderStep[] {
  const { history } = text.orders;
  const rows = [...order.productRowList, ...order.menuRowList.flatMap(({ productRowList }) => productRowList)];
  const steps: (Omit<OrderStep, "at"> & { at: string | null })[] = [
    { at: order.openedAt, name: history.opened, clerk: order.operatorName },
    ...groupByMinute(rows, ({ recordedAt }) => recordedAt, history.added),
    ...groupByMinute(rows, ({ transmittedAt }) => transmittedAt, history.sentToKitchen),
    ...groupByMinute(
      rows.filter(({ isCanceled }) => isCanceled),
      ({ modifiedAt }) => modifiedAt,
      history.productsCanceled,
    ),
    { at: order.firstBillPrintDate, name: history.billPrinted, clerk: null },
    ...order.paymentRowList.map(({ name, paymentMode, recordedAt, operatorName }) => {
      return { at: recordedAt, name: history.payment(text.payments.method(name, paymentMode)), clerk: operatorName };
    }),
    { at: order.paidAt, name: history.paid, clerk: null },
    { at: order.postPaymentPrintDate, name: history.receiptPrinted, clerk: null },
    { at: order.transferredAt, name: history.transferred, clerk: null },
    { at: order.canceledAt, name: history.canceled, clerk: null },
    { at: order.closedAt, name: history.closed, clerk: null },
    { at: receivedAt, name: reportId === null ? history.received : history.inTill, clerk: null },
  ];
  if (changedAt !== receivedAt)
    steps.push({ at: changedAt, name: reportId === null ? history.changed : history.computedAgain, clerk: null });
  const known = steps.filter((step): step is OrderStep => step.at !== null);
  // Sorting keeps the sequence of steps at the same time.
  return known.sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
}

/** Returns a step for each minute and clerk in which something happened to these products. */
function groupByMinute(
  rows: readonly ProductRow[],
  timeOf: (row: ProductRow) => string | null,
  nameOf: (products: string) => string,
): OrderStep[] {
  const groups = new Map<string, { at: string; clerk: string | null; names: string[] }>();
  for (const row of rows) {
    const at = timeOf(row);
    if (at === null) continue;
    const key = `${at.slice(0, 16)} ${row.operatorName}`;
    const group = groups.get(key) ?? { at, clerk: row.operatorName, names: [] };
    group.names.push(row.name ?? text.orders.unnamedProduct);
    groups.set(key, group);
  }
  return [...groups.values()].map(({ at, clerk, names }) => ({ at, clerk, name: nameOf(listNames(names)) }));
}

/** Returns the names with their numbers: `2 × Coffee, Cake`. */
function listNames(names: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].map(([name, count]) => (count > 1 ? `${count} × ${name}` : name)).join(", ");
}
