import { z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import { describeCodesV1, paymentModes, paymentRowTypes } from "./enumerations.ts";
import { tillV1Example } from "./examples/till-v1.ts";
import {
  amountField,
  boundedArray,
  boundedString,
  ClientGeneratedId,
  createUniqueIdsCheck,
  nullWhenAbsent,
  optionalCountField,
  optionalLongTextField,
  optionalTextField,
  orderRowIdField,
} from "./fields.ts";
import { LocaleCode } from "./locale.ts";
import { posApplicationNameInputSchema } from "./pos-application.ts";
import { paymentModeCodeV1, TicketV1 } from "./ticket-v1.ts";

const cashMovementV1 = z
  .object({
    name: optionalTextField("Reason for the movement"),
    amount: amountField("Amount of the movement (negative if money was paid out)"),
    creation_date: nullWhenAbsent(DateTimeV1).meta({ description: "When the movement was recorded" }),
    device_id: optionalTextField("ID of the device on which the movement was recorded"),
    person_id: optionalTextField("ID of the clerk who recorded the movement"),
    person: optionalTextField("Name of the clerk who recorded the movement"),
    currency: optionalTextField("Currency of the movement"),
    payment_mode: nullWhenAbsent(z.int().min(-1)).meta({
      description: `Code of the payment mode: \`-1\` unknown, ${describeCodesV1(paymentModes)}. Other codes are treated as \`6\`.`,
    }),
    payment_name: optionalTextField("Name of the payment method"),
  })
  .meta({
    id: "CashMovementV1",
    description: "Money received or paid out for a reason other than a sale, in the V1 format",
    example: tillV1Example.tillJson.cash_movements[0],
  });

const totalPaymentV1 = z
  .object({
    mode: paymentModeCodeV1,
    type: nullWhenAbsent(z.int().min(0)).meta({
      description: `Code of the payment type: ${describeCodesV1(paymentRowTypes)}. The API ignores this code.`,
    }),
    currency: optionalTextField("Currency of the payments"),
    locale: optionalTextField("Locale used to format the amount"),
    amount: amountField("Sum of the payments with this payment mode"),
  })
  .meta({
    id: "TotalPaymentV1",
    description: "Total that the point of sale declares for one payment mode over the shift, in the V1 format",
    example: tillV1Example.tillJson.total_payments[0],
  });

const teamMemberV1 = z
  .object({
    name: optionalTextField("Name of the clerk"),
    date_begin: nullWhenAbsent(DateTimeV1).meta({ description: "When the shift began; null if unknown" }),
    date_end: nullWhenAbsent(DateTimeV1).meta({
      description: "When the shift ended; null if it had not ended when the till was closed",
    }),
    person_client_id: orderRowIdField("ID of the clerk, which is the same in all of the clerk's shifts"),
  })
  .meta({
    id: "TeamMemberV1",
    description: "A clerk's shift, in the V1 format",
    example: tillV1Example.tillJson.team[0],
  });

/** The content of a till, in the V1 format. A date-time without an offset is in the location's time zone. */
const tillJsonV1 = z
  .object({
    client_id: ClientGeneratedId.meta({
      description: "ID of the till: a UUID. In requests, the UUID can have the prefix `s`, which the API removes.",
    }),
    server_id: nullWhenAbsent(z.int().min(1)).meta({
      description: "ID of the till in the legacy backoffice; null if the till does not come from a legacy backoffice",
    }),
    name: optionalTextField("Name of the establishment"),
    note: optionalLongTextField("Note that the clerk added to the till; null if there is none"),
    ticket_name: optionalTextField("Name of the establishment, as printed in the header of each ticket"),
    ticket_company: optionalTextField("French business registration number (SIRET)"),
    ticket_country: boundedString(1_024)
      .nullable()
      .default("France")
      .meta({ description: "Country of the establishment", example: "France" }),
    ticket_city: optionalTextField("City of the establishment"),
    ticket_zip: optionalTextField("Postal code of the establishment"),
    ticket_address: optionalTextField("Address of the establishment"),
    ticket_phone: optionalTextField("Phone number of the establishment"),
    ticket_url: optionalTextField("Website of the establishment"),
    ticket_tva: optionalTextField("VAT number of the establishment"),
    ticket_naf: optionalTextField("French business activity code (NAF)"),
    ticket_text: optionalLongTextField("Text printed at the top of each ticket"),
    device_name: optionalTextField("Name of the device that closed the till"),
    device_id: optionalTextField("ID of the device that closed the till"),
    date_begin: DateTimeV1.meta({ description: "When the shift began" }),
    date_end: DateTimeV1.meta({ description: "When the till was closed" }),
    fiscal: z
      .int()
      .min(1)
      .meta({ description: "Sequential number of the report, assigned by the point of sale", example: 24 }),
    locale: LocaleCode.default("fr_FR"),
    number_guests: optionalCountField("Number of guests, as counted by the point of sale"),
    person_name: optionalTextField("Name of the clerk who closed the till"),
    person_id: optionalTextField("ID of the clerk who closed the till"),
    cash_float_initial: nullWhenAbsent(z.int().min(0)).meta({
      description:
        "Cash in the drawer at the start of the shift (cash float), in minor units (1400 means 14.00 EUR, or 1400 JPY)",
    }),
    cash_float_final: nullWhenAbsent(z.int().min(0)).meta({
      description: "Cash in the drawer at the end of the shift, in minor units (1400 means 14.00 EUR, or 1400 JPY)",
    }),
    tickets: boundedArray(TicketV1, 10_000)
      .check(createUniqueIdsCheck("order", "order_id"))
      .meta({ description: "All orders of the shift. Each order ID must be unique." }),
    cash_movements: boundedArray(cashMovementV1, 10_000).meta({
      description: "Financial movements: money received or paid out for reasons other than sales",
    }),
    total_payments: boundedArray(totalPaymentV1, 1_000).meta({
      description: "Payment totals that the point of sale declares, by payment mode",
    }),
    team: boundedArray(teamMemberV1, 1_000).meta({
      description: "Clerk shifts, with start and end times",
    }),
  })
  .meta({
    id: "TillJsonV1",
    description: "The till of a closed shift, in the V1 format",
    example: tillV1Example.tillJson,
  });

/**
 * The till of a closed shift in the V1 format (snake_case), with the application and the legacy id that identify its
 * location. Fields that identify the till or affect its figures are required. Nullable fields can be absent.
 */
export const TillV1 = z
  .object({
    application: posApplicationNameInputSchema,
    legacyId: z.int().min(1).meta({ description: "ID of the location in the legacy backoffice", example: 14 }),
    tillJson: tillJsonV1,
  })
  .meta({ id: "TillV1", description: "The till of a closed shift, in the V1 format", example: tillV1Example });

/** A till in the V1 format before parsing. */
export type TillV1Input = z.input<typeof TillV1>;

export type TillV1 = z.output<typeof TillV1>;
