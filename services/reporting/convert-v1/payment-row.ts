import { paymentModes, paymentTypes } from "@pragma/contracts/enumerations";
import type { PaymentRow } from "@pragma/contracts/order-rows";
import type { PaymentV1 } from "@pragma/contracts/ticket-v1";
import type { ToInstant } from "./in-time-zone.ts";

/** The payment mode that the older format writes as its place in the list; `custom` past its end. */
export function paymentModeOf(code: number): (typeof paymentModes)[number] {
  return paymentModes[code] ?? "custom";
}

/** A payment row from one of the older format, which knows neither change nor tips on top. */
export function paymentRow(payment: PaymentV1, toInstant: ToInstant): PaymentRow {
  const createdAt = toInstant(payment.creation_date);
  return {
    id: payment.client_id,
    recordedAt: createdAt,
    modifiedAt: createdAt,
    amount: payment.amount,
    changeAmount: 0,
    changePaymentName: null,
    changePaymentMode: null,
    lastProofOfPaymentAmount: null,
    totalProofOfPaymentAmount: null,
    status: payment.cancelled ? "cancelled" : "validated",
    name: payment.name,
    paymentType: paymentTypes[payment.type] ?? "payment",
    paymentMode: paymentModeOf(payment.mode),
    paymentId: payment.payment_method_client_id,
    changePaymentId: null,
    tipAmount: null,
    externalServiceId: null,
    currencyCode: payment.currency,
    sellerCardReceipt: null,
    buyerCardReceipt: null,
    firebaseCustomerRefKey: null,
    operatorId: payment.person_client_id,
    operatorName: payment.person_name,
    paymentProtocol: "unknown",
  };
}
