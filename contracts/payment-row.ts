import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { paymentModes, paymentProtocols, paymentTypes, rowStatuses } from "./enumerations.ts";
import { paymentRowExample } from "./examples/till-v2.ts";
import { amount, optionalAmount, optionalCurrency, optionalLongText, optionalText, orNull, rowId } from "./fields.ts";

/**
 * One payment, change, tip or account movement of an order. What decides where its money goes is required: id, moment,
 * amounts, status, type and mode.
 */
export const PaymentRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: DateTime.meta({ description: "When it was taken" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("Net of change, and without its tip"),
    changeAmount: amount("Change given back"),
    changePaymentName: optionalText("Name of the payment method that the change was given in"),
    changePaymentMode: orNull(z.enum(paymentModes)).meta({
      description: "Mode of the payment method that the change was given in",
    }),
    lastProofOfPaymentAmount: optionalAmount("Amount of the last proof of payment"),
    totalProofOfPaymentAmount: optionalAmount("Amount of all proofs of payment"),
    status: z.enum(rowStatuses).meta({ description: "Only a validated payment counts" }),
    name: optionalText("Name of the payment method"),
    paymentType: z.enum(paymentTypes).meta({ description: "What kind of movement it is" }),
    paymentMode: z.enum(paymentModes).meta({ description: "How it was paid" }),
    paymentId: optionalText("Id of the payment method in the catalogue"),
    changePaymentId: optionalText("Id of the payment method that the change was given in"),
    tipAmount: optionalAmount("Tip, on top of the amount"),
    externalServiceId: optionalText("Id in an external service"),
    currencyCode: optionalCurrency(),
    sellerCardReceipt: optionalLongText("The seller's card receipt"),
    buyerCardReceipt: optionalLongText("The buyer's card receipt"),
    firebaseCustomerRefKey: optionalText("Reference of the customer"),
    operatorId: optionalText("Id of the clerk who took it"),
    operatorName: optionalText("Name of the clerk who took it"),
    paymentProtocol: z.enum(paymentProtocols).default("unknown").meta({ description: "How the terminal was driven" }),
  })
  .meta({ id: "PaymentRowInput", description: "A payment of an order", example: paymentRowExample });

export type PaymentRow = z.infer<typeof PaymentRow>;
