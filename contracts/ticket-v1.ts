import { z } from "zod";
import { OlderDateTime } from "./date-time.ts";
import { itemV1Example, menuV1Example, paymentV1Example, ticketV1Example } from "./examples/till-v1.ts";
import {
  amount,
  ClientId,
  flag,
  isAmount,
  limitedList,
  optionalCount,
  optionalInteger,
  optionalLongText,
  optionalText,
  orNull,
  plainPercent,
  rowId,
  units,
} from "./fields.ts";

/** A choice made for a product, in the older format. */
const optionV1 = z.object({
  client_id: optionalText("Id of the choice in the catalogue"),
  name: optionalText("Name of the choice"),
  price: amount("Price of the choice, for one unit of the product"),
  group_id: optionalText("Id of its group in the catalogue"),
  group_name: optionalText("Name of its group"),
});

/** A discount on a product, in the older format. */
const discountV1 = z.object({
  client_id: optionalText("Id of the discount in the catalogue"),
  name: optionalText("Name of the discount"),
  amount: amount("What the discount takes off this product"),
});

const sum = (discounts: { amount: number }[]) => discounts.reduce((total, { amount }) => total + amount, 0);

function unitPrice(price: { amount: number }, options: { price: number }[]): number {
  return options.reduce((total, option) => total + option.price, price.amount);
}

/**
 * A product of a ticket, in the older format. Required is what decides whether and for how much it counts; only
 * `is_loss` is false when absent.
 */
export const ItemV1 = z
  .object({
    client_id: rowId("Id of the row"),
    name: optionalText("Name of the product"),
    step: optionalText("Step of the menu that it is part of"),
    step_index: optionalInteger("Place of that step in the menu"),
    creation_date: orNull(OlderDateTime).meta({ description: "When it was taken" }),
    motif: optionalText("Why it was canceled"),
    item_client_id: optionalText("Id of the product in the catalogue; null for a temporary product"),
    sku: optionalText("Stock keeping unit"),
    quantity: units("How many units", { least: 1 }),
    weight: orNull(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null when not sold by weight",
    }),
    waiter: optionalText("Name of the clerk who took it"),
    category: optionalText("Name of the sub-category"),
    parent_category: optionalText("Name of the category"),
    cancelled: flag("Canceled: it does not count"),
    live_paid: orNull(z.boolean()).meta({ description: "Whether it was paid by itself" }),
    transferred: flag("Moved elsewhere: it does not count here"),
    parent_id: optionalText("For the child of a split bill: the row that it was split from"),
    price: z
      .object({
        currency: optionalText("Currency"),
        tax: plainPercent(),
        tier: optionalText("Name of the price list"),
        tax_name: optionalText("Name of the tax"),
        amount: amount("Price of one unit (of one kilogram when there is a weight), VAT included"),
      })
      .meta({ description: "Price of one unit" }),
    options: limitedList(optionV1, 1_000).meta({ description: "Choices made for it" }),
    discounts: limitedList(discountV1, 1_000).meta({ description: "Discounts on it" }),
    ordered_date: orNull(OlderDateTime).meta({ description: "When it was ordered" }),
    is_loss: z.boolean().default(false).meta({ description: "Lost: it does not count as a sale" }),
    loss_reason: optionalText("Why it was lost"),
  })
  .refine(
    ({ price, options, quantity, weight }) => isAmount(unitPrice(price, options) * quantity * Math.max(1, weight ?? 1)),
    {
      path: ["quantity"],
      error: "Must be so that the price with its options, times quantity and weight, is an amount",
    },
  )
  .refine(({ discounts }) => isAmount(sum(discounts)), { path: ["discounts"], error: "Must add up to an amount" })
  .meta({ id: "ItemV1", description: "A product of a ticket, in the older format", example: itemV1Example });

export type ItemV1 = z.infer<typeof ItemV1>;

/** A payment of a ticket, in the older format. */
export const PaymentV1 = z
  .object({
    name: optionalText("Name of the payment method"),
    cancelled: flag("Canceled: it does not count"),
    amount: amount("Net of change"),
    person_client_id: optionalText("Id of the clerk who took it"),
    person_name: optionalText("Name of the clerk who took it"),
    currency: optionalText("Currency"),
    mode: z
      .int()
      .min(0)
      .meta({ description: "How it was paid, as the place in the list of payment modes: 0 is cash", example: 1 }),
    client_id: rowId("Id of the row"),
    payment_method_client_id: optionalText("Id of the payment method in the catalogue"),
    type: z
      .int()
      .min(0)
      .meta({ description: "What it is, as the place in the list of payment types: 0 is payment", example: 0 }),
    locale: optionalText("Locale of the amount"),
    creation_date: OlderDateTime.meta({ description: "When it was taken" }),
  })
  .meta({ id: "PaymentV1", description: "A payment of a ticket, in the older format", example: paymentV1Example });

export type PaymentV1 = z.infer<typeof PaymentV1>;

/** A set menu of a ticket, in the older format. */
const MenuV1 = z
  .object({
    client_id: optionalText("Id of the menu in the catalogue"),
    name: optionalText("Name of the menu"),
    price: amount("Total of the menu, VAT included"),
    items: limitedList(ItemV1, 5_000).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuV1", description: "A set menu of a ticket, in the older format", example: menuV1Example });

/** An order, in the older format. */
export const TicketV1 = z
  .object({
    prints_count: optionalCount("How often its bill was printed"),
    items: limitedList(ItemV1, 5_000).meta({ description: "Its products that are not part of a menu" }),
    waiter: optionalText("Name of the clerk who owns it"),
    payments: limitedList(PaymentV1, 5_000).meta({ description: "Its payments" }),
    signature: optionalLongText("Fiscal signature"),
    menus: limitedList(MenuV1, 1_000).meta({ description: "Its menus" }),
    number_guests: units("How many guests"),
    live_paid: orNull(z.boolean()).meta({ description: "Whether it was paid before it was closed" }),
    transferred: flag("Transferred: it does not count in totals"),
    transferred_motif: optionalText("Where it was transferred to"),
    price: amount("Total, VAT included"),
    ticket_date: orNull(OlderDateTime).meta({ description: "Date on the ticket" }),
    table: optionalText("Name of the table"),
    order_id: ClientId.meta({ description: "Id of the order" }),
    date_begin: OlderDateTime.meta({ description: "When it was opened" }),
    date_end: orNull(OlderDateTime).meta({ description: "When it was closed" }),
    waiter_id: optionalText("Id of the clerk who owns it"),
    fiscal: optionalInteger("Fiscal number"),
    room: optionalText("Name of the room"),
    room_id: optionalText("Id of the room"),
    cancelled: flag("Canceled: it does not count in totals"),
    device_id: optionalText("Id of the device"),
    device_name: optionalText("Name of the device"),
    motif: optionalText("Why it was canceled"),
    customer_identifier: optionalText("Reference of the customer; null if anonymous"),
  })
  .meta({ id: "TicketV1", description: "An order, in the older format", example: ticketV1Example });

export type TicketV1 = z.infer<typeof TicketV1>;
