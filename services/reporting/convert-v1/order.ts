import { plus } from "@pragma/contracts/money";
import type { OrderData } from "@pragma/contracts/order-data";
import type { MenuRow, PaymentRow, ProductRow } from "@pragma/contracts/order-rows";
import type { TicketV1 } from "@pragma/contracts/ticket-v1";
import type { ToInstant } from "./in-time-zone.ts";
import { paymentRow } from "./payment-row.ts";
import { productRow } from "./product-row.ts";

/**
 * An order from a ticket of the older format. What that format lacks is null, or the default. Its tax and discount are
 * those of its rows that are neither canceled, transferred nor lost, whatever became of the order.
 */
export function orderData(ticket: TicketV1, tillId: string, toInstant: ToInstant): OrderData {
  const payments = ticket.payments.map((payment) => paymentRow(payment, toInstant));
  const products = ticket.items.map((item) => productRow(item, null, toInstant));
  const menus = ticket.menus.map((menu, index) => menuRow(menu, `${ticket.order_id}#${index}`, toInstant));
  const standing = [...products, ...menus.flatMap((menu) => menu.productRowList)].filter(stands);
  const totalTax = standing.reduce((sum, row) => plus(sum, row.taxAmount), 0);
  const leftToPay = Math.max(0, plus(ticket.price, -paidBy(payments)));
  return {
    id: ticket.order_id,
    tillId,
    roomId: ticket.room_id,
    revisionHash: null,
    deviceIdentifier: ticket.device_id,
    deviceName: ticket.device_name,
    openedAt: toInstant(ticket.date_begin),
    modifiedAt: null,
    closedAt: toInstant(ticket.date_end),
    paidAt: null,
    canceledAt: null,
    transferredAt: null,
    firstBillPrintDate: null,
    postPaymentPrintDate: null,
    total: ticket.price,
    totalTax,
    totalDiscount: standing.reduce((sum, row) => plus(sum, row.totalDiscount), 0),
    totalWithoutTax: plus(ticket.price, -totalTax),
    leftToPay,
    guestsCount: ticket.number_guests,
    billPrintCount: ticket.prints_count,
    proofsOfPaymentCount: null,
    postPaymentPrintCount: null,
    roomType: "room",
    roomPricing: null,
    roomName: ticket.room,
    tableId: null,
    tableName: ticket.table,
    tablePosX: null,
    tablePosY: null,
    tableShape: null,
    beeperNumber: null,
    comment: null,
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
    firebaseCustomerName: null,
    firebaseCustomerRefKey: ticket.customer_identifier,
    firebaseReservationRefKey: null,
    isPrepaid: false,
    isTransferred: ticket.transferred,
    transferredTo: ticket.transferred_motif,
    externalServiceId: null,
    extOctorateReservationId: null,
    extQoodosCheckInId: null,
    extQoodosUserId: null,
    extQoodosUserName: null,
    pickupHour: null,
    groupedTableInfo: [],
    customerInfo: null,
    deliveryCustomerInfo: null,
    deliveryAddress: null,
    deliveryComment: null,
    channel: "unknown",
    serviceType: "unknown",
    isTraining: false,
    source: "unknown",
    externalOrderId: null,
    externalLocationId: null,
    paymentRowList: payments,
    productRowList: products,
    menuRowList: menus,
  };
}

function menuRow(menu: TicketV1["menus"][number], id: string, toInstant: ToInstant): MenuRow {
  return {
    id,
    recordedAt: null,
    modifiedAt: null,
    unitPriceRow: null,
    currencyCode: null,
    amountToAdd: null,
    amountToSubtract: null,
    pricingId: null,
    menuId: menu.client_id,
    pricingName: null,
    pricingType: null,
    name: menu.name,
    parentMenuRowId: null,
    totalRow: menu.price,
    productRowList: menu.items.map((item) => productRow(item, id, toInstant)),
  };
}

function stands(row: ProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

function paidBy(payments: PaymentRow[]): number {
  return payments
    .filter(({ status, paymentType }) => status === "validated" && ["payment", "customerAccount"].includes(paymentType))
    .reduce((sum, payment) => plus(sum, payment.amount), 0);
}
