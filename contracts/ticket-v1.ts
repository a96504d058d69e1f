import { z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import {
  ticketItemV1Example,
  ticketMenuV1Example,
  ticketPaymentV1Example,
  ticketV1Example,
} from "./examples/till-v1.ts";
import {
  amountField,
  booleanField,
  boundedArray,
  ClientGeneratedId,
  isAmountInRange,
  nullWhenAbsent,
  optionalCountField,
  optionalIntegerField,
  optionalLongTextField,
  optionalTextField,
  rowIdField,
  unitCountField,
  vatPercentField,
} from "./fields.ts";

/** A choice made for a product, in the older format. */
const optionV1 = z.object({
  client_id: optionalTextField("Id of the choice in the catalogue"),
  name: optionalTextField("Name of the choice"),
  price: amountField("Price of the choice, for one unit of the product"),
  group_id: optionalTextField("Id of its group in the catalogue"),
  group_name: optionalTextField("Name of its group"),
});

/** A discount on a product, in the older format. */
const discountV1 = z.object({
  client_id: optionalTextField("Id of the discount in the catalogue"),
  name: optionalTextField("Name of the discount"),
  amount: amountField("What the discount takes off this product"),
});

const sumAmounts = (discounts: { amount: number }[]) => discounts.reduce((total, { amount }) => total + amount, 0);

function unitPrice(price: { amount: number }, options: { price: number }[]): number {
  return options.reduce((total, option) => total + option.price, price.amount);
}

/**
 * A product of a ticket, in the older format. Required is what decides whether and for how much it counts; only
 * `is_loss` is false when absent.
 */
export const TicketItemV1 = z
  .object({
    client_id: rowIdField("Id of the row"),
    name: optionalTextField("Name of the product"),
    step: optionalTextField("Step of the menu that it is part of"),
    step_index: optionalIntegerField("Place of that step in the menu"),
    creation_date: nullWhenAbsent(DateTimeV1).meta({ description: "When it was taken" }),
    motif: optionalTextField("Why it was canceled"),
    item_client_id: optionalTextField("Id of the product in the catalogue; null for a temporary product"),
    sku: optionalTextField("Stock keeping unit"),
    quantity: unitCountField("How many units", { least: 1 }),
    weight: nullWhenAbsent(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null when not sold by weight",
    }),
    waiter: optionalTextField("Name of the clerk who took it"),
    category: optionalTextField("Name of the sub-category"),
    parent_category: optionalTextField("Name of the category"),
    cancelled: booleanField("Canceled: it does not count"),
    live_paid: nullWhenAbsent(z.boolean()).meta({ description: "Whether it was paid by itself" }),
    transferred: booleanField("Moved elsewhere: it does not count here"),
    parent_id: optionalTextField("For the child of a split bill: the row that it was split from"),
    price: z
      .object({
        currency: optionalTextField("Currency"),
        tax: vatPercentField(),
        tier: optionalTextField("Name of the price list"),
        tax_name: optionalTextField("Name of the tax"),
        amount: amountField("Price of one unit (of one kilogram when there is a weight), VAT included"),
      })
      .meta({ description: "Price of one unit" }),
    options: boundedArray(optionV1, 1_000).meta({ description: "Choices made for it" }),
    discounts: boundedArray(discountV1, 1_000).meta({ description: "Discounts on it" }),
    ordered_date: nullWhenAbsent(DateTimeV1).meta({ description: "When it was ordered" }),
    is_loss: z.boolean().default(false).meta({ description: "Lost: it does not count as a sale" }),
    loss_reason: optionalTextField("Why it was lost"),
  })
  .refine(
    ({ price, options, quantity, weight }) =>
      isAmountInRange(unitPrice(price, options) * quantity * Math.max(1, weight ?? 1)),
    {
      path: ["quantity"],
      error: "Must be so that the price with its options, times quantity and weight, is an amount",
    },
  )
  .refine(({ discounts }) => isAmountInRange(sumAmounts(discounts)), {
    path: ["discounts"],
    error: "Must add up to an amount",
  })
  .meta({ id: "ItemV1", description: "A product of a ticket, in the older format", example: ticketItemV1Example });

export type TicketItemV1 = z.infer<typeof TicketItemV1>;

/** A payment of a ticket, in the older format. */
export const TicketPaymentV1 = z
  .object({
    name: optionalTextField("Name of the payment method"),
    cancelled: booleanField("Canceled: it does not count"),
    amount: amountField("Net of change"),
    person_client_id: optionalTextField("Id of the clerk who took it"),
    person_name: optionalTextField("Name of the clerk who took it"),
    currency: optionalTextField("Currency"),
    mode: z
      .int()
      .min(0)
      .meta({ description: "How it was paid, as the place in the list of payment modes: 0 is cash", example: 1 }),
    client_id: rowIdField("Id of the row"),
    payment_method_client_id: optionalTextField("Id of the payment method in the catalogue"),
    type: z
      .int()
      .min(0)
      .meta({ description: "What it is, as the place in the list of payment types: 0 is payment", example: 0 }),
    locale: optionalTextField("Locale of the amount"),
    creation_date: DateTimeV1.meta({ description: "When it was taken" }),
  })
  .meta({
    id: "PaymentV1",
    description: "A payment of a ticket, in the older format",
    example: ticketPaymentV1Example,
  });

export type TicketPaymentV1 = z.infer<typeof TicketPaymentV1>;

/** A set menu of a ticket, in the older format. */
const TicketMenuV1 = z
  .object({
    client_id: optionalTextField("Id of the menu in the catalogue"),
    name: optionalTextField("Name of the menu"),
    price: amountField("Total of the menu, VAT included"),
    items: boundedArray(TicketItemV1, 5_000).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuV1", description: "A set menu of a ticket, in the older format", example: ticketMenuV1Example });

/** An order, in the older format. */
export const TicketV1 = z
  .object({
    prints_count: optionalCountField("How often its bill was printed"),
    items: boundedArray(TicketItemV1, 5_000).meta({ description: "Its products that are not part of a menu" }),
    waiter: optionalTextField("Name of the clerk who owns it"),
    payments: boundedArray(TicketPaymentV1, 5_000).meta({ description: "Its payments" }),
    signature: optionalLongTextField("Fiscal signature"),
    menus: boundedArray(TicketMenuV1, 1_000).meta({ description: "Its menus" }),
    number_guests: unitCountField("How many guests"),
    live_paid: nullWhenAbsent(z.boolean()).meta({ description: "Whether it was paid before it was closed" }),
    transferred: booleanField("Transferred: it does not count in totals"),
    transferred_motif: optionalTextField("Where it was transferred to"),
    price: amountField("Total, VAT included"),
    ticket_date: nullWhenAbsent(DateTimeV1).meta({ description: "Date on the ticket" }),
    table: optionalTextField("Name of the table"),
    order_id: ClientGeneratedId.meta({ description: "Id of the order" }),
    date_begin: DateTimeV1.meta({ description: "When it was opened" }),
    date_end: nullWhenAbsent(DateTimeV1).meta({ description: "When it was closed" }),
    waiter_id: optionalTextField("Id of the clerk who owns it"),
    fiscal: optionalIntegerField("Fiscal number"),
    room: optionalTextField("Name of the room"),
    room_id: optionalTextField("Id of the room"),
    cancelled: booleanField("Canceled: it does not count in totals"),
    device_id: optionalTextField("Id of the device"),
    device_name: optionalTextField("Name of the device"),
    motif: optionalTextField("Why it was canceled"),
    customer_identifier: optionalTextField("Reference of the customer; null if anonymous"),
  })
  .meta({ id: "TicketV1", description: "An order, in the older format", example: ticketV1Example });

export type TicketV1 = z.infer<typeof TicketV1>;
