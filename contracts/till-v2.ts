import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { financialMovementTypes, paymentModes } from "./enumerations.ts";
import { establishmentShape } from "./establishment.ts";
import {
  clerkShiftExample,
  declaredPaymentExample,
  financialMovementExample,
  tillV2Example,
} from "./examples/till-v2.ts";
import {
  amountField,
  boundedArray,
  ClientGeneratedId,
  nullWhenAbsent,
  optionalCountField,
  optionalCurrencyField,
  optionalLongTextField,
  optionalTextField,
  rowIdField,
  uniqueItemsCheck,
} from "./fields.ts";
import { Locale } from "./locale.ts";
import { OrderData } from "./order-data.ts";

/** Money that entered or left the drawer other than by a sale. */
const FinancialMovement = z
  .object({
    id: optionalTextField("Id of the movement"),
    amount: amountField("Negative when money left the drawer"),
    name: optionalTextField("What it was for"),
    type: z.enum(financialMovementTypes).meta({ description: "What kind of movement it is" }),
    recordedAt: nullWhenAbsent(DateTime).meta({ description: "When it was made" }),
    deviceIdentifier: optionalTextField("Id of the device"),
    deviceName: optionalTextField("Name of the device"),
    operatorId: optionalTextField("Id of the clerk who made it"),
    operatorName: optionalTextField("Name of the clerk who made it"),
    currencyCode: optionalCurrencyField(),
    paymentMode: nullWhenAbsent(z.enum(paymentModes)).meta({ description: "How it was paid" }),
    paymentId: optionalTextField("Id of the payment method in the catalogue"),
    paymentName: optionalTextField("Name of the payment method"),
    customerId: optionalTextField("Id of the customer"),
    customerName: optionalTextField("Name of the customer"),
  })
  .meta({
    id: "FinancialMovement",
    description: "Money that entered or left the drawer other than by a sale",
    example: financialMovementExample,
  });

/** What the point of sale says was taken by one payment method over the shift. */
const DeclaredPayment = z
  .object({
    paymentMode: z.enum(paymentModes).meta({ description: "How it was paid" }),
    paymentAmount: amountField("Sum of the payments"),
    quantity: optionalCountField("How many payments"),
    paymentId: optionalTextField("Id of the payment method in the catalogue"),
    paymentName: optionalTextField("Name of the payment method"),
  })
  .meta({
    id: "DeclaredPayment",
    description: "What the point of sale says was taken by one payment method",
    example: declaredPaymentExample,
  });

/** When a clerk worked. */
export const ClerkShift = z
  .object({
    id: rowIdField("Id of the clerk; the same in each of their shifts"),
    name: optionalTextField("Name of the clerk"),
    clockInDate: nullWhenAbsent(DateTime).meta({ description: "When the shift began; null when not known" }),
    clockOutDate: nullWhenAbsent(DateTime).meta({ description: "When the shift ended; null when it had not" }),
  })
  .meta({ id: "ClerkShift", description: "When a clerk worked", example: clerkShiftExample });

export type ClerkShift = z.infer<typeof ClerkShift>;

/** How many orders a till has at most. */
export const maxOrdersPerTill = 10_000;

/**
 * The till of a closed shift, as the point of sale pushes it: everything that its report and orders are made from.
 *
 * Required is what identifies it and what is counted: id, dates, reportNumber, and the lists. A field that may be null
 * may be absent, and unknown fields are ignored. An order that is listed twice is refused.
 */
export const TillV2 = z
  .object({
    id: ClientGeneratedId.meta({ description: "Id of the till: a uuid, or an s followed by one" }),
    note: optionalLongTextField("Note of the clerk"),
    ...establishmentShape,
    logoUrl: optionalTextField("Address of the logo"),
    deviceName: optionalTextField("Name of the device that closed the till"),
    deviceIdentifier: optionalTextField("Id of the device that closed the till"),
    isTraining: z
      .boolean()
      .default(false)
      .meta({ description: "Made in school mode: it is kept and yields no report" }),
    startedAt: DateTime.meta({ description: "When the shift began" }),
    finalizedAt: DateTime.meta({ description: "When the till was closed" }),
    reportNumber: z
      .int()
      .min(1)
      .meta({ description: "Number of the report, counted by the point of sale", example: 24 }),
    locale: Locale.default("fr_FR"),
    clerkName: optionalTextField("Name of the clerk who closed the till"),
    clerkId: optionalTextField("Id of the clerk who closed the till"),
    initialCashBalance: nullWhenAbsent(z.int().min(0)).meta({
      description: "Cash in the drawer at the start, in minor units",
    }),
    finalCashBalance: nullWhenAbsent(z.int().min(0)).meta({
      description: "Cash in the drawer at the end, in minor units",
    }),
    financialMovementList: boundedArray(FinancialMovement, 10_000).meta({
      description: "Movements of the drawer other than sales",
    }),
    declaredPaymentList: boundedArray(DeclaredPayment, 1_000).meta({ description: "Payments as declared, by method" }),
    clerkShiftList: boundedArray(ClerkShift, 1_000).meta({ description: "The clerks' shifts" }),
    orderList: boundedArray(OrderData, maxOrdersPerTill)
      .check(uniqueItemsCheck("order", "id"))
      .meta({ description: "Every order of the shift, each once" }),
  })
  .meta({ id: "TillV2", description: "The till of a closed shift", example: tillV2Example });

/** A till as it is pushed. */
export type TillV2Input = z.input<typeof TillV2>;

/** A till as it was understood: nothing absent, ids lower case, dates in UTC. */
export type TillV2 = z.output<typeof TillV2>;
