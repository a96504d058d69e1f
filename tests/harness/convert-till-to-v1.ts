import type { ApiSchemaTypes } from "@pragma/client/api-client";
import { paymentModes, paymentRowTypes } from "@pragma/contracts/enumerations";
import type { PosOrderData } from "@pragma/contracts/order-data";
import type { PosOrderPaymentRow, PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { TillV2 } from "@pragma/contracts/till-v2";
import type { GeneratedTill } from "@pragma/simulator/generate-till";

type TillV1 = ApiSchemaTypes["TillV1"];
type TillJson = TillV1["tillJson"];
type Ticket = TillJson["tickets"][number];
type Item = Ticket["items"][number];

interface LegacyLocation {
  application: TillV1["application"];
  legacyId: number;
}

/**
 * Converts a till to the V1 format. The report of the V1 till has the same sales and payments. Orders in training mode,
 * discounts that are not validated, and tips that are part of a payment (`tipAmount`) are omitted, because the V1
 * format does not have them. A returned item gets a positive quantity and a negative price.
 */
export function convertGeneratedTillToV1(till: GeneratedTill, { application, legacyId }: LegacyLocation): TillV1 {
  return {
    application,
    legacyId,
    tillJson: {
      client_id: till.id,
      server_id: null,
      name: till.establishmentName,
      note: till.note,
      ticket_name: till.establishmentName,
      ticket_company: till.siretCode,
      ticket_country: till.country,
      ticket_city: till.city,
      ticket_zip: till.zipCode,
      ticket_address: till.address1,
      ticket_phone: till.phoneNumber,
      ticket_url: till.website,
      ticket_tva: till.tvaCode,
      ticket_naf: till.nafCode,
      ticket_text: till.customHeader,
      device_name: till.deviceName,
      device_id: till.deviceIdentifier,
      date_begin: till.startedAt,
      date_end: till.finalizedAt,
      fiscal: till.reportNumber,
      locale: till.locale,
      person_name: till.clerkName,
      person_id: till.clerkId,
      cash_float_initial: till.initialCashBalance,
      cash_float_final: till.finalCashBalance,
      tickets: till.orderList.filter(({ isTraining }) => !isTraining).map(toTicket),
      cash_movements: till.financialMovementList.map((movement) => ({
        name: movement.name,
        amount: movement.amount,
        creation_date: movement.recordedAt,
        device_id: movement.deviceIdentifier,
        person_id: movement.operatorId,
        person: movement.operatorName,
        currency: movement.currencyCode,
        payment_mode: movement.paymentMode === null ? -1 : paymentModes.indexOf(movement.paymentMode),
        payment_name: movement.paymentName,
      })),
      total_payments: sumPaymentsByMode(till.declaredPaymentList),
      team: till.clerkShiftList.map(({ id, name, clockInDate, clockOutDate }) => ({
        name,
        date_begin: clockInDate,
        date_end: clockOutDate,
        person_client_id: id,
      })),
    },
  };
}

function toTicket(order: PosOrderData): Ticket {
  return {
    order_id: order.id,
    date_begin: order.openedAt,
    date_end: order.closedAt,
    ticket_date: order.closedAt,
    prints_count: order.billPrintCount,
    waiter: order.operatorName,
    waiter_id: order.operatorId,
    room: order.roomName,
    room_id: order.roomId,
    table: order.tableName,
    number_guests: order.guestsCount,
    price: order.total,
    fiscal: order.fiscalNumber,
    signature: order.signature,
    device_id: order.deviceIdentifier,
    device_name: order.deviceName,
    customer_identifier: order.firebaseCustomerRefKey,
    cancelled: order.isCanceled,
    motif: order.canceledReason,
    transferred: order.isTransferred,
    transferred_motif: order.transferredTo,
    live_paid: order.isPaid,
    items: order.productRowList.map(toTicketItem),
    menus: order.menuRowList.map((menu) => ({
      client_id: menu.menuId,
      name: menu.name,
      price: menu.totalRow,
      items: menu.productRowList.map(toTicketItem),
    })),
    payments: order.paymentRowList.map((payment) => toTicketPayment(payment, order)),
  };
}

function toTicketItem(row: PosOrderProductRow): Item {
  const sign = row.quantity < 0 ? -1 : 1;
  return {
    client_id: row.id,
    item_client_id: row.productId,
    name: row.name,
    category: row.subCategoryName,
    parent_category: row.categoryName,
    step: row.menuStepName,
    step_index: row.menuStepIndex,
    creation_date: row.recordedAt,
    ordered_date: row.orderedAt,
    quantity: Math.abs(row.quantity),
    weight: row.weight,
    waiter: row.operatorName,
    sku: row.sku,
    cancelled: row.isCanceled,
    motif: row.canceledReason,
    live_paid: null,
    transferred: row.isTransferred,
    is_loss: row.isLoss,
    loss_reason: row.lossReason,
    parent_id: row.parentProductRowId,
    price: {
      amount: sign * row.unitPriceRow,
      tax: row.taxRate,
      tax_name: row.taxName,
      tier: row.pricingName,
      currency: row.currencyCode,
    },
    options: row.modifierRowList.map((modifier) => ({
      client_id: modifier.modifierId,
      name: modifier.name,
      price: sign * modifier.amount,
      group_id: modifier.modifierGroupId,
      group_name: modifier.modifierGroupName,
    })),
    discounts: row.discountRowList
      .filter(({ status }) => status === "validated")
      .map(({ discountId, name, amount }) => ({ client_id: discountId, name, amount })),
  };
}

function toTicketPayment(payment: PosOrderPaymentRow, order: PosOrderData): Ticket["payments"][number] {
  return {
    client_id: payment.id,
    payment_method_client_id: payment.paymentId,
    name: payment.name,
    mode: paymentModes.indexOf(payment.paymentMode),
    type: paymentRowTypes.indexOf(payment.paymentType),
    amount: payment.amount,
    cancelled: payment.status !== "validated",
    currency: payment.currencyCode,
    person_client_id: payment.operatorId,
    person_name: payment.operatorName,
    creation_date: payment.recordedAt ?? order.openedAt,
  };
}

/** Returns the total declared payments by payment mode, because V1 declared payments do not have a payment method. */
function sumPaymentsByMode(declared: TillV2["declaredPaymentList"]): TillJson["total_payments"] {
  const byMode = new Map<number, number>();
  for (const { paymentMode, paymentAmount } of declared) {
    const mode = paymentModes.indexOf(paymentMode);
    byMode.set(mode, (byMode.get(mode) ?? 0) + paymentAmount);
  }
  return [...byMode].map(([mode, amount]) => ({ mode, type: 0, currency: "EUR", amount }));
}
