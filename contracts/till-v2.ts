import { object, z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import { financialMovementTypes, paymentModes } from "./enumerations.ts";
import { establishmentShape } from "./establishment.ts";
import {
  clerkShiftExample,
  declaredPaymentTotalExample,
  financialMovementExample,
  tillV2Example,
} from "./examples/till-v2.ts";
import { boundedArray, ClientGeneratedId, createUniqueIdsCheck, field, nullWhenAbsent } from "./fields.ts";
import { LocaleCode } from "./locale.ts";
import { PosOrderData } from "./order-data.ts";

const FinancialMovement = object({
  id: field.optionalText("ID that the point of sale assigned to the movement"),
  amount: field.amount("Amount of the movement (negative if money was paid out)"),
  name: field.optionalText("Reason for the movement"),
  type: z.enum(financialMovementTypes).meta({
    description:
      "Type of movement. `deposit`: customer deposit. `customerAccount`: payment to a customer account. `cash-in`: cash added to the drawer. `cash-out`: cash removed from the drawer, with an amount below 0.",
  }),
  recordedAt: field.optionalDateTime("When the movement was recorded"),
  deviceIdentifier: field.optionalText("ID of the device on which the movement was recorded"),
  deviceName: field.optionalText("Name of the device on which the movement was recorded"),
  operatorId: field.optionalText("ID of the clerk who recorded the movement"),
  operatorName: field.optionalText("Name of the clerk who recorded the movement"),
  currencyCode: field.optionalCurrency(),
  paymentMode: nullWhenAbsent(z.enum(paymentModes)).describe("Payment mode, such as cash or card; null if unknown"),
  paymentId: field.optionalText("Catalog ID of the payment method"),
  paymentName: field.optionalText("Name of the payment method"),
  customerId: field.optionalText("ID of the customer who made the payment; null if the movement has no customer"),
  customerName: field.optionalText("Name of the customer who made the payment; null if the movement has no customer"),
}).meta({
  id: "FinancialMovement",
  description: "Money received or paid out for a reason other than a sale",
  example: financialMovementExample,
});

const DeclaredPayment = object({
  paymentMode: z.enum(paymentModes).describe("Payment mode, such as cash or card"),
  paymentAmount: field.amount("Total that the point of sale declares for this payment method"),
  quantity: field.optionalCount("Number of payments with this payment method"),
  paymentId: field.optionalText("Catalog ID of the payment method"),
  paymentName: field.optionalText("Name of the payment method"),
}).meta({
  id: "DeclaredPayment",
  description: "Total that the point of sale declares for one payment method over the shift",
  example: declaredPaymentTotalExample,
});

export const TillClerkShift = object({
  id: field.orderRowId("ID of the clerk, which is the same in all of the clerk's shifts"),
  name: field.optionalText("Name of the clerk"),
  clockInDate: field.optionalDateTime("When the shift began; null if unknown"),
  clockOutDate: field.optionalDateTime("When the shift ended; null if it had not ended when the till was closed"),
}).meta({ id: "ClerkShift", description: "A clerk's shift", example: clerkShiftExample });

export type TillClerkShift = z.infer<typeof TillClerkShift>;

export const maxOrdersPerTill = 10_000;

/**
 * The till of a closed shift, as the point of sale pushes it. The report and the orders are computed from this till.
 *
 * Fields that identify the till or affect its figures are required: id, dates, reportNumber and the lists. Nullable
 * fields can be absent. Unknown fields are ignored. Duplicate orders are rejected.
 */
export const TillV2 = object({
  id: ClientGeneratedId.meta({
    description: "ID of the till: a UUID. In requests, the UUID can have the prefix `s`, which the API removes.",
  }),
  note: field.optionalLongText("Note that the clerk added to the till; null if there is none"),
  ...establishmentShape,
  logoUrl: field.optionalText("URL of the establishment's logo; null if there is none"),
  deviceName: field.optionalText("Name of the device that closed the till"),
  deviceIdentifier: field.optionalText("ID of the device that closed the till"),
  isTraining: field.falseByDefault(
    "Whether the till was recorded in training mode. A training till is stored, but no report is computed from it.",
  ),
  startedAt: RequestDateTime.describe("When the shift began"),
  finalizedAt: RequestDateTime.describe("When the till was closed"),
  reportNumber: z
    .int()
    .min(1)
    .meta({ description: "Sequential number of the report, assigned by the point of sale", example: 24 }),
  locale: LocaleCode.default("fr_FR"),
  clerkName: field.optionalText("Name of the clerk who closed the till"),
  clerkId: field.optionalText("ID of the clerk who closed the till"),
  initialCashBalance: nullWhenAbsent(z.int().min(0)).meta({
    description: "Cash in the drawer at the start of the shift, in minor units (1400 means 14.00 EUR, or 1400 JPY)",
  }),
  finalCashBalance: nullWhenAbsent(z.int().min(0)).meta({
    description: "Cash in the drawer at the end of the shift, in minor units (1400 means 14.00 EUR, or 1400 JPY)",
  }),
  financialMovementList: boundedArray(FinancialMovement, 10_000).meta({
    description: "Financial movements: money received or paid out for reasons other than sales",
  }),
  declaredPaymentList: boundedArray(DeclaredPayment, 1_000).meta({
    description: "Payment totals that the point of sale declares, by payment method",
  }),
  clerkShiftList: boundedArray(TillClerkShift, 1_000).meta({
    description: "Shifts of the clerks, with clock-in and clock-out times",
  }),
  orderList: boundedArray(PosOrderData, maxOrdersPerTill)
    .check(createUniqueIdsCheck("order", "id"))
    .describe("All orders of the shift. Each order ID must be unique."),
}).meta({
  id: "TillV2",
  description: "The till of a closed shift: its orders, declared payments, financial movements and clerk shifts",
  example: tillV2Example,
});

export type TillV2Input = z.input<typeof TillV2>;

/** A parsed till. No field is absent, the UUIDs of the till and its orders are in lower case, and dates are in UTC. */
export type TillV2 = z.output<typeof TillV2>;
