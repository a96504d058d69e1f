import { z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import { tillV1Example } from "./examples/till-v1.ts";
import {
  amountField,
  boundedArray,
  boundedString,
  ClientGeneratedId,
  nullWhenAbsent,
  optionalCountField,
  optionalLongTextField,
  optionalTextField,
  rowIdField,
  uniqueItemsCheck,
} from "./fields.ts";
import { Locale } from "./locale.ts";
import { posApplicationInputSchema } from "./pos-application.ts";
import { TicketV1 } from "./ticket-v1.ts";

const cashMovementV1 = z
  .object({
    name: optionalTextField("What it was for"),
    amount: amountField("Negative when money left the drawer"),
    creation_date: nullWhenAbsent(DateTimeV1).meta({ description: "When it was made" }),
    device_id: optionalTextField("Id of the device"),
    person_id: optionalTextField("Id of the clerk who made it"),
    person: optionalTextField("Name of the clerk who made it"),
    currency: optionalTextField("Currency"),
    payment_mode: nullWhenAbsent(z.int().min(-1)).meta({
      description: "How it was paid, as the place in the list of payment modes; -1 when not known",
    }),
    payment_name: optionalTextField("Name of the payment method"),
  })
  .meta({
    id: "CashMovementV1",
    description: "Money that entered or left the drawer other than by a sale, in the older format",
    example: tillV1Example.tillJson.cash_movements[0],
  });

const totalPaymentV1 = z
  .object({
    mode: z
      .int()
      .min(0)
      .meta({ description: "How it was paid, as the place in the list of payment modes: 0 is cash", example: 1 }),
    type: nullWhenAbsent(z.int().min(0)).meta({ description: "What it is, as the place in the list of payment types" }),
    currency: optionalTextField("Currency"),
    locale: optionalTextField("Locale of the amount"),
    amount: amountField("Sum of the payments"),
  })
  .meta({
    id: "TotalPaymentV1",
    description: "What the point of sale says was paid in one mode, in the older format",
    example: tillV1Example.tillJson.total_payments[0],
  });

const teamMemberV1 = z
  .object({
    name: optionalTextField("Name of the clerk"),
    date_begin: nullWhenAbsent(DateTimeV1).meta({ description: "When the shift began; null when not known" }),
    date_end: nullWhenAbsent(DateTimeV1).meta({ description: "When the shift ended; null when it had not" }),
    person_client_id: rowIdField("Id of the clerk; the same in each of their shifts"),
  })
  .meta({
    id: "TeamMemberV1",
    description: "When a clerk worked, in the older format",
    example: tillV1Example.tillJson.team[0],
  });

/** The till itself, in the older format. A date without an offset is in the location's time zone. */
const tillJsonV1 = z
  .object({
    client_id: ClientGeneratedId.meta({ description: "Id of the till: a uuid, or an s followed by one" }),
    server_id: nullWhenAbsent(z.int().min(1)).meta({ description: "Id of the till in the legacy backoffice" }),
    name: optionalTextField("Name of the establishment"),
    note: optionalLongTextField("Note of the clerk"),
    ticket_name: optionalTextField("Name of the establishment, as tickets show it"),
    ticket_company: optionalTextField("Registration number (SIRET)"),
    ticket_country: boundedString(1_024)
      .nullable()
      .default("France")
      .meta({ description: "Country", example: "France" }),
    ticket_city: optionalTextField("City"),
    ticket_zip: optionalTextField("Postal code"),
    ticket_address: optionalTextField("Address"),
    ticket_phone: optionalTextField("Telephone number"),
    ticket_url: optionalTextField("Web site"),
    ticket_tva: optionalTextField("VAT number"),
    ticket_naf: optionalTextField("Code of its trade (NAF)"),
    ticket_text: optionalLongTextField("Text above each ticket"),
    device_name: optionalTextField("Name of the device that closed the till"),
    device_id: optionalTextField("Id of the device that closed the till"),
    date_begin: DateTimeV1.meta({ description: "When the shift began" }),
    date_end: DateTimeV1.meta({ description: "When the till was closed" }),
    fiscal: z.int().min(1).meta({ description: "Number of the report, counted by the point of sale", example: 24 }),
    locale: Locale.default("fr_FR"),
    number_guests: optionalCountField("How many guests, as the point of sale counts them"),
    person_name: optionalTextField("Name of the clerk who closed the till"),
    person_id: optionalTextField("Id of the clerk who closed the till"),
    cash_float_initial: nullWhenAbsent(z.int().min(0)).meta({
      description: "Cash in the drawer at the start, in minor units",
    }),
    cash_float_final: nullWhenAbsent(z.int().min(0)).meta({
      description: "Cash in the drawer at the end, in minor units",
    }),
    tickets: boundedArray(TicketV1, 10_000)
      .check(uniqueItemsCheck("order", "order_id"))
      .meta({ description: "Every order of the shift, each once" }),
    cash_movements: boundedArray(cashMovementV1, 10_000).meta({
      description: "Movements of the drawer other than sales",
    }),
    total_payments: boundedArray(totalPaymentV1, 1_000).meta({ description: "Payments as declared, by mode" }),
    team: boundedArray(teamMemberV1, 1_000).meta({ description: "The clerks' shifts" }),
  })
  .meta({
    id: "TillJsonV1",
    description: "The till of a closed shift, in the older format",
    example: tillV1Example.tillJson,
  });

/**
 * The till of a closed shift in the older, snake_case format, with the application and legacy id that name its
 * location. Required is what identifies it and what is counted; what may be null may be absent.
 */
export const TillV1 = z
  .object({
    application: posApplicationInputSchema,
    legacyId: z.int().min(1).meta({ description: "Id of the location in the legacy backoffice", example: 14 }),
    tillJson: tillJsonV1,
  })
  .meta({ id: "TillV1", description: "The till of a closed shift, in the older format", example: tillV1Example });

/** A till in the older format as it is pushed. */
export type TillV1Input = z.input<typeof TillV1>;

export type TillV1 = z.output<typeof TillV1>;
