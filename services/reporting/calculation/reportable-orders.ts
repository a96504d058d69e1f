import type { OrderData } from "@pragma/contracts/order-data";
import { isSoldProductRow, type MenuRow, type PaymentRow, type ProductRow } from "@pragma/contracts/order-rows";

/** A menu of an order, with the product rows that count as sales. */
export interface SoldMenu {
  menuRow: MenuRow;
  rows: ProductRow[];
}

export interface SoldProductRow {
  row: ProductRow;
  inMenu: boolean;
}

/** An order that is not in training mode, with the parts of it that count in the report. */
export interface ReportableOrder {
  order: OrderData;
  /** Whether its total counts as a sale: it is neither canceled nor transferred. */
  isSale: boolean;
  /** The rows that count, in the till's order, rows outside menus first. Empty unless the order is a sale. */
  rows: SoldProductRow[];
  /** The menus that count, each with at least one row. Empty unless the order is a sale. */
  menus: SoldMenu[];
  /** The validated payments. They count even if the order does not, because the money is in the drawer. */
  payments: PaymentRow[];
}

/**
 * Returns the parts of each order that count in the report. Orders in training mode are omitted. An order counts as a
 * sale unless it is canceled or transferred. A row counts if its order does and the row is not canceled, transferred or
 * lost. A menu counts if one of its rows does. A payment counts if it is validated.
 */
export function toReportableOrders(orders: OrderData[]): ReportableOrder[] {
  return orders.filter((order) => !order.isTraining).map(toReportableOrder);
}

/** Returns what a row adds to a quantity: 0 for the child of a split bill, whose parent counts for both. */
export function computeSoldQuantity(row: ProductRow): number {
  return row.parentProductRowId === null ? row.quantity : 0;
}

function toReportableOrder(order: OrderData): ReportableOrder {
  const isSale = !order.isCanceled && !order.isTransferred;
  const menus = isSale ? order.menuRowList.map(toSoldMenu).filter((menu) => menu.rows.length > 0) : [];
  const rowsOutsideMenus = isSale
    ? order.productRowList.filter(isSoldProductRow).map((row) => ({ row, inMenu: false }))
    : [];
  return {
    order,
    isSale,
    rows: [...rowsOutsideMenus, ...menus.flatMap((menu) => menu.rows.map((row) => ({ row, inMenu: true })))],
    menus,
    payments: order.paymentRowList.filter((payment) => payment.status === "validated"),
  };
}

function toSoldMenu(menuRow: MenuRow): SoldMenu {
  return { menuRow, rows: menuRow.productRowList.filter(isSoldProductRow) };
}

/** Whether a payment reduces what is left to pay of an order. */
export function isPaymentReducingAmountDue({ paymentType }: Pick<PaymentRow, "paymentType">): boolean {
  return paymentType === "payment" || paymentType === "customerAccount";
}
