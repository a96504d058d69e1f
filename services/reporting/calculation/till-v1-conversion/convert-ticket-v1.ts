import { paymentModes, paymentRowTypes } from "@pragma/contracts/enumerations";
import { getSchemaFieldDefaults } from "@pragma/contracts/fields";
import { addMoneyAmounts } from "@pragma/contracts/money";
import { PosOrderData } from "@pragma/contracts/order-data";
import {
  computeProductRowAmounts,
  flattenOrderProductRows,
  isRowCountedAsSale,
  PosOrderDiscountRow,
  PosOrderMenuRow,
  PosOrderModifierRow,
  PosOrderPaymentRow,
  PosOrderProductRow,
} from "@pragma/contracts/order-rows";
import type { TicketItemV1, TicketPaymentV1, TicketV1 } from "@pragma/contracts/ticket-v1";
import { sum } from "../groups.ts";
import { isPaymentReducingAmountDue } from "../reportable-orders.ts";
import type { LocalToUtcConverter } from "./local-to-utc.ts";

/** Returns the payment mode for a code of a V1 till: an index into `paymentModes`; `custom` for other codes. */
export function convertPaymentModeCodeV1(code: number): (typeof paymentModes)[number] {
  return paymentModes[code] ?? "custom";
}

const paymentDefaults = getSchemaFieldDefaults(PosOrderPaymentRow.shape);

/** Returns the payment row of a V1 payment. Its change is 0 and its tip is null, because V1 has no fields for them. */
function convertPaymentV1(payment: TicketPaymentV1, toInstant: LocalToUtcConverter): PosOrderPaymentRow {
  const createdAt = toInstant(payment.creation_date);
  return {
    ...paymentDefaults,
    id: payment.client_id,
    recordedAt: createdAt,
    modifiedAt: createdAt,
    amount: payment.amount,
    changeAmount: 0,
    status: payment.cancelled ? "cancelled" : "validated",
    name: payment.name,
    paymentType: paymentRowTypes[payment.type] ?? "payment",
    paymentMode: convertPaymentModeCodeV1(payment.mode),
    paymentId: payment.payment_method_client_id,
    currencyCode: payment.currency,
    operatorId: payment.person_client_id,
    operatorName: payment.person_name,
  };
}

const productDefaults = getSchemaFieldDefaults(PosOrderProductRow.shape);
const modifierDefaults = getSchemaFieldDefaults(PosOrderModifierRow.shape);
const discountDefaults = getSchemaFieldDefaults(PosOrderDiscountRow.shape);

/** Returns the product row of a V1 item, whose totals and VAT are computed. */
function convertItemV1(
  item: TicketItemV1,
  menuRowId: string | null,
  toInstant: LocalToUtcConverter,
): PosOrderProductRow {
  const createdAt = toInstant(item.creation_date);
  return computeProductRowAmounts({
    ...productDefaults,
    id: item.client_id,
    parentProductRowId: item.parent_id,
    productId: item.item_client_id,
    recordedAt: createdAt,
    modifiedAt: createdAt,
    orderedAt: toInstant(item.ordered_date),
    taxName: item.price.tax_name,
    taxRate: item.price.tax,
    unitPriceRow: item.price.amount,
    subCategoryName: item.category,
    categoryName: item.parent_category,
    quantity: item.quantity,
    weight: item.weight,
    pricingName: item.price.tier,
    operatorName: item.waiter,
    name: item.name,
    canceledReason: item.motif,
    isTransferred: item.transferred,
    isMerged: false,
    isCustomPrice: false,
    validated: true,
    isCanceled: item.cancelled,
    currencyCode: item.price.currency,
    menuStepName: item.step,
    menuStepIndex: item.step_index,
    sku: item.sku,
    isLoss: item.is_loss,
    lossReason: item.loss_reason,
    menuRowId,
    modifierRowList: item.options.map((option, index) => ({
      ...modifierDefaults,
      id: `${item.client_id}#${index}`,
      recordedAt: createdAt,
      modifiedAt: createdAt,
      amount: option.price,
      name: option.name,
      modifierGroupName: option.group_name,
      modifierId: option.client_id,
      modifierGroupId: option.group_id,
    })),
    discountRowList: item.discounts.map((discount, index) => ({
      ...discountDefaults,
      id: `${item.client_id}#${index}`,
      recordedAt: createdAt,
      modifiedAt: createdAt,
      amount: discount.amount,
      status: "validated",
      splitAllowed: false,
      name: discount.name,
      discountId: discount.client_id,
    })),
  });
}

const orderDefaults = getSchemaFieldDefaults(PosOrderData.shape);
const menuDefaults = getSchemaFieldDefaults(PosOrderMenuRow.shape);

/**
 * Returns the order of a V1 ticket. Fields that V1 does not have are null or have a default. Its tax and discount are
 * sums over the rows that are not canceled, transferred or lost, even if the order itself is canceled or transferred.
 */
export function convertTicketV1ToOrder(ticket: TicketV1, tillId: string, toInstant: LocalToUtcConverter): PosOrderData {
  const payments = ticket.payments.map((payment) => convertPaymentV1(payment, toInstant));
  const products = ticket.items.map((item) => convertItemV1(item, null, toInstant));
  const menus = ticket.menus.map((menu, index) => convertMenuV1(menu, `${ticket.order_id}#${index}`, toInstant));
  const soldRows = flattenOrderProductRows({ productRowList: products, menuRowList: menus }).filter(isRowCountedAsSale);
  const totalTax = sum(soldRows.map(({ taxAmount }) => taxAmount));
  const settlingPayments = payments.filter(
    (payment) => payment.status === "validated" && isPaymentReducingAmountDue(payment),
  );
  const paid = sum(settlingPayments.map(({ amount }) => amount));
  const leftToPay = Math.max(0, addMoneyAmounts(ticket.price, -paid));
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
    totalDiscount: sum(soldRows.map(({ totalDiscount }) => totalDiscount)),
    totalWithoutTax: addMoneyAmounts(ticket.price, -totalTax),
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

function convertMenuV1(menu: TicketV1["menus"][number], id: string, toInstant: LocalToUtcConverter): PosOrderMenuRow {
  return {
    ...menuDefaults,
    id,
    menuId: menu.client_id,
    name: menu.name,
    totalRow: menu.price,
    productRowList: menu.items.map((item) => convertItemV1(item, id, toInstant)),
  };
}
