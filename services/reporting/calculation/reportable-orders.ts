import type { PosOrderData } from "@pragma/contracts/order-data";
import {
  flattenOrderProductRows,
  isRowCountedAsSale,
  type PosOrderMenuRow,
  type PosOrderPaymentRow,
  type PosOrderProductRow,
} from "@pragma/contracts/order-rows";

/** A set menu of an order, with the product rows that count as sales. */
export interface ReportableSetMenu {
  menuRow: PosOrderMenuRow;
  rows: PosOrderProductRow[];
}

export interface ReportableProductRow {
  row: PosOrderProductRow;
  inMenu: boolean;
}

/** An order that is not in training mode, with the rows, menus and payments that count in the report. */
export interface ReportableOrder {
  order: PosOrderData;
  /** Whether the order counts as a sale. True unless the order is canceled or transferred. */
  isSale: boolean;
  /** The product rows that count as sales: first the rows outside menus. Empty unless the order is a sale. */
  rows: ReportableProductRow[];
  /** The menus that count as sales, each with at least one row. Empty unless the order is a sale. */
  menus: ReportableSetMenu[];
  /** The validated payments. They count even if the order is not a sale, because the money was received. */
  payments: PosOrderPaymentRow[];
}

/**
 * Returns the orders with their rows, menus and payments that count in the report. Orders in training mode are omitted.
 * An order counts as a sale unless it is canceled or transferred. A row counts if its order counts and the row is not
 * canceled, transferred or lost. A menu counts if one of its rows counts. A payment counts if it is validated.
 */
export function toReportableOrders(orders: PosOrderData[]): ReportableOrder[] {
  return orders.filter((order) => !order.isTraining).map(toReportableOrder);
}

/** Returns the quantity of a row; 0 for a child row of a split bill, because its parent row has the full quantity. */
export function getQuantityUnlessSplitChild(row: PosOrderProductRow): number {
  return row.parentProductRowId === null ? row.quantity : 0;
}

/** Returns the rows of an order that were lost, unless the order or the row is canceled or transferred. */
export function listLostProductRows({ order, isSale }: ReportableOrder): PosOrderProductRow[] {
  if (!isSale) return [];
  return flattenOrderProductRows(order).filter((row) => row.isLoss && !row.isCanceled && !row.isTransferred);
}

function toReportableOrder(order: PosOrderData): ReportableOrder {
  const isSale = !order.isCanceled && !order.isTransferred;
  const menus = isSale ? order.menuRowList.map(toReportableSetMenu).filter((menu) => menu.rows.length > 0) : [];
  const rowsOutsideMenus = isSale
    ? order.productRowList.filter(isRowCountedAsSale).map((row) => ({ row, inMenu: false }))
    : [];
  return {
    order,
    isSale,
    rows: [...rowsOutsideMenus, ...menus.flatMap((menu) => menu.rows.map((row) => ({ row, inMenu: true })))],
    menus,
    payments: order.paymentRowList.filter((payment) => payment.status === "validated"),
  };
}

function toReportableSetMenu(menuRow: PosOrderMenuRow): ReportableSetMenu {
  return { menuRow, rows: menuRow.productRowList.filter(isRowCountedAsSale) };
}

/** Returns whether a payment of this type reduces the amount that is left to pay. Tips, change and discounts do not. */
export function isPaymentReducingAmountDue({ paymentType }: Pick<PosOrderPaymentRow, "paymentType">): boolean {
  return paymentType === "payment" || paymentType === "customerAccount";
}
