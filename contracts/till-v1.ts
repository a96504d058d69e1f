import { object, z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import { describeCodesV1, paymentModes, paymentRowTypes } from "./enumerations.ts";
import { tillV1Example } from "./examples/till-v1.ts";
import { boundedArray, createUniqueIdsCheck, field, nullWhenAbsent } from "./fields.ts";
import { posApplicationNameInputSchema } from "./pos-application.ts";
import { paymentModeCodeV1, TicketV1 } from "./ticket-v1.ts";
import { TillClerkShift, TillV2 } from "./till-v2.ts";

// Fields that mean the same as in the current format are taken from it.
const till = TillV2.shape;
const movement = till.financialMovementList.element.shape;
const clerkShift = TillClerkShift.shape;

const cashMovementV1 = object({
  name: movement.name,
  amount: movement.amount,
  creation_date: nullWhenAbsent(DateTimeV1).describe("When the movement was recorded"),
  device_id: movement.deviceIdentifier,
  person_id: movement.operatorId,
  person: movement.operatorName,
  currency: field.optionalText("Currency of the movement"),
  payment_mode: nullWhenAbsent(z.int().min(-1)).meta({
    description: `Code of the payment mode: \`-1\` unknown, ${describeCodesV1(paymentModes)}. Other codes are treated as \`6\`.`,
  }),
  payment_name: movement.paymentName,
}).meta({
  id: "CashMovementV1",
  description: "Money received or paid out for a reason other than a sale, in the V1 format",
  example: tillV1Example.tillJson.cash_movements[0],
});

const totalPaymentV1 = object({
  mode: paymentModeCodeV1,
  type: nullWhenAbsent(z.int().min(0)).meta({
    description: `Code of the payment type: ${describeCodesV1(paymentRowTypes)}. The API ignores this code.`,
  }),
  currency: field.optionalText("Currency of the payments"),
  locale: field.optionalText("Locale used to format the amount"),
  amount: field.amount("Sum of the payments with this payment mode"),
}).meta({
  id: "TotalPaymentV1",
  description: "Total that the point of sale declares for one payment mode over the shift, in the V1 format",
  example: tillV1Example.tillJson.total_payments[0],
});

const teamMemberV1 = object({
  name: clerkShift.name,
  date_begin: nullWhenAbsent(DateTimeV1).describe("When the shift began; null if unknown"),
  date_end: nullWhenAbsent(DateTimeV1).meta({
    description: "When the shift ended; null if it had not ended when the till was closed",
  }),
  person_client_id: clerkShift.id,
}).meta({
  id: "TeamMemberV1",
  description: "A clerk's shift, in the V1 format",
  example: tillV1Example.tillJson.team[0],
});

/** The content of a till, in the V1 format. A date-time without an offset is in the location's time zone. */
const tillJsonV1 = object({
  client_id: till.id,
  server_id: nullWhenAbsent(z.int().min(1)).meta({
    description: "ID of the till in the legacy backoffice; null if the till does not come from a legacy backoffice",
  }),
  name: till.establishmentName,
  note: till.note,
  ticket_name: field.optionalText("Name of the establishment, as printed in the header of each ticket"),
  ticket_company: till.siretCode,
  ticket_country: till.country,
  ticket_city: till.city,
  ticket_zip: till.zipCode,
  ticket_address: field.optionalText("Address of the establishment"),
  ticket_phone: till.phoneNumber,
  ticket_url: till.website,
  ticket_tva: till.tvaCode,
  ticket_naf: till.nafCode,
  ticket_text: till.customHeader,
  device_name: till.deviceName,
  device_id: till.deviceIdentifier,
  date_begin: DateTimeV1.describe("When the shift began"),
  date_end: DateTimeV1.describe("When the till was closed"),
  fiscal: till.reportNumber,
  locale: till.locale,
  number_guests: field.optionalCount("Number of guests, as counted by the point of sale"),
  person_name: till.clerkName,
  person_id: till.clerkId,
  cash_float_initial: nullWhenAbsent(z.int().min(0)).describe(
    "Cash in the drawer at the start of the shift (cash float), in minor units (1400 means 14.00 EUR, or 1400 JPY)",
  ),
  cash_float_final: till.finalCashBalance,
  tickets: boundedArray(TicketV1, 10_000)
    .check(createUniqueIdsCheck("order", "order_id"))
    .describe("All orders of the shift. Each order ID must be unique."),
  cash_movements: boundedArray(cashMovementV1, 10_000).meta({
    description: "Financial movements: money received or paid out for reasons other than sales",
  }),
  total_payments: boundedArray(totalPaymentV1, 1_000).meta({
    description: "Payment totals that the point of sale declares, by payment mode",
  }),
  team: boundedArray(teamMemberV1, 1_000).describe("Clerk shifts, with start and end times"),
}).meta({
  id: "TillJsonV1",
  description: "The till of a closed shift, in the V1 format",
  example: tillV1Example.tillJson,
});

/**
 * The till of a closed shift in the V1 format (snake_case), with the application and the legacy id that identify its
 * location. Fields that identify the till or affect its figures are required. Nullable fields can be absent.
 */
export const TillV1 = object({
  application: posApplicationNameInputSchema,
  legacyId: z.int().min(1).meta({ description: "ID of the location in the legacy backoffice", example: 14 }),
  tillJson: tillJsonV1,
}).meta({ id: "TillV1", description: "The till of a closed shift, in the V1 format", example: tillV1Example });

export type TillV1Input = z.input<typeof TillV1>;

export type TillV1 = z.output<typeof TillV1>;
