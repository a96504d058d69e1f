import { paymentModes, paymentTypes } from "@pragma/contracts/enumerations";
import { defaultsOf } from "@pragma/contracts/fields";
import { PaymentRow } from "@pragma/contracts/order-rows";
import type { PaymentV1 } from "@pragma/contracts/ticket-v1";
import type { ToInstant } from "./in-time-zone.ts";

/** The payment mode that the older format writes as its place in the list; `custom` past its end. */
export function paymentModeOf(code: number): (typeof paymentModes)[number] {
  return paymentModes[code] ?? "custom";
}

const paymentDefaults = defaultsOf(PaymentRow.shape);

/** A payment row from one of the older format, which knows neither change nor tips on top. */
export function paymentRow(payment: PaymentV1, toInstant: ToInstant): PaymentRow {
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
    paymentType: paymentTypes[payment.type] ?? "payment",
    paymentMode: paymentModeOf(payment.mode),
    paymentId: payment.payment_method_client_id,
    currencyCode: payment.currency,
    operatorId: payment.person_client_id,
    operatorName: payment.person_name,
  };
}
