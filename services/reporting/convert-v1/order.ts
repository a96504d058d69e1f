import { defaultsOf } from "@pragma/contracts/fields";
import { plus } from "@pragma/contracts/money";
import { OrderData } from "@pragma/contracts/order-data";
import { MenuRow, type PaymentRow } from "@pragma/contracts/order-rows";
import type { TicketV1 } from "@pragma/contracts/ticket-v1";
import { isSettling, rowCounts } from "../calculate/counting.ts";
import type { ToInstant } from "./in-time-zone.ts";
import { paymentRow } from "./payment-row.ts";
import { productRow } from "./product-row.ts";

const orderDefaults = defaultsOf(OrderData.shape);
const menuDefaults = defaultsOf(MenuRow.shape);

/**
 * An order from a ticket of the older format. What that format lacks is null, or the default. Its tax and discount are
 * those of its rows that are neither canceled, transferred nor lost, whatever became of the order.
 */
export function orderData(ticket: TicketV1, tillId: string, toInstant: ToInstant): OrderData {
  const payments = ticket.payments.map((payment) => paymentRow(payment, toInstant));
  const products = ticket.items.map((item) => productRow(item, null, toInstant));
  const menus = ticket.menus.map((menu, index) => menuRow(menu, `${ticket.order_id}#${index}`, toInstant));
  const standing = [...products, ...menus.flatMap((menu) => menu.productRowList)].filter(rowCounts);
  const totalTax = standing.reduce((sum, row) => plus(sum, row.taxAmount), 0);
  const leftToPay = Math.max(0, plus(ticket.price, -paidBy(payments)));
  return {
    ...orderDefaults,
    id: ticket.order_id,
    tillId,
    roomId: ticket.room_id,
    deviceIdentifier: ticket.device_id,
    deviceName: ticket.device_name,
    openedAt: toInstant(ticket.date_begin),
    closedAt: toInstant(ticket.date_end),
    total: ticket.price,
    totalTax,
    totalDiscount: standing.reduce((sum, row) => plus(sum, row.totalDiscount), 0),
    totalWithoutTax: plus(ticket.price, -totalTax),
    leftToPay,
    guestsCount: ticket.number_guests,
    billPrintCount: ticket.prints_count,
    roomType: "room",
    roomName: ticket.room,
    tableName: ticket.table,
    preparationActivated: false,
    isMerged: false,
    manuallyClosed: false,
    isPaid: leftToPay === 0,
    isCanceled: ticket.cancelled,
    canceledReason: ticket.motif,
    fiscalNumber: ticket.fiscal,
    signature: ticket.signature,
    operatorId: ticket.waiter_id,
    operatorName: ticket.waiter,
    firebaseCustomerRefKey: ticket.customer_identifier,
    isPrepaid: false,
    isTransferred: ticket.transferred,
    transferredTo: ticket.transferred_motif,
    paymentRowList: payments,
    productRowList: products,
    menuRowList: menus,
  };
}

function menuRow(menu: TicketV1["menus"][number], id: string, toInstant: ToInstant): MenuRow {
  return {
    ...menuDefaults,
    id,
    menuId: menu.client_id,
    name: menu.name,
    totalRow: menu.price,
    productRowList: menu.items.map((item) => productRow(item, id, toInstant)),
  };
}

function paidBy(payments: PaymentRow[]): number {
  return payments
    .filter((payment) => payment.status === "validated" && isSettling(payment))
    .reduce((sum, payment) => plus(sum, payment.amount), 0);
}
