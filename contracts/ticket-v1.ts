import { z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import { describeCodesV1, paymentModes, paymentRowTypes } from "./enumerations.ts";
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
  orderRowIdField,
  unitCountField,
  vatPercentField,
} from "./fields.ts";

/** A modifier option selected for a product, in the V1 format. */
const optionV1 = z.object({
  client_id: optionalTextField("Catalog ID of the modifier option"),
  name: optionalTextField("Name of the modifier option"),
  price: amountField("Price of the option for one unit of the product"),
  group_id: optionalTextField("Catalog ID of the modifier group"),
  group_name: optionalTextField("Name of the modifier group"),
});

/** A discount on a product, in the V1 format. */
const discountV1 = z.object({
  client_id: optionalTextField(
    "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
  ),
  name: optionalTextField("Name of the discount"),
  amount: amountField("Amount deducted from the price of the product"),
});

const sumAmounts = (discounts: { amount: number }[]) => discounts.reduce((total, { amount }) => total + amount, 0);

function unitPrice(price: { amount: number }, options: { price: number }[]): number {
  return options.reduce((total, option) => total + option.price, price.amount);
}

/**
 * A product of a ticket, in the V1 format. Fields that affect figures are required, except `weight`, which is null by
 * default, and `is_loss`, which is false by default.
 */
export const TicketItemV1 = z
  .object({
    client_id: orderRowIdField("ID of the row"),
    name: optionalTextField("Name of the product"),
    step: optionalTextField(
      "Name of the menu step (course) that the product belongs to; null if the product is not part of a set menu",
    ),
    step_index: optionalIntegerField(
      "Position of the menu step in the set menu; null if the product is not part of a set menu",
    ),
    creation_date: nullWhenAbsent(DateTimeV1).meta({ description: "When the row was recorded" }),
    motif: optionalTextField("Reason why the product was canceled; null if it was not canceled or no reason was given"),
    item_client_id: optionalTextField(
      "Catalog ID of the product; null for a temporary product, which is not in the catalog",
    ),
    sku: optionalTextField("Stock keeping unit (SKU) of the product"),
    quantity: unitCountField("Number of units", { min: 1 }),
    weight: nullWhenAbsent(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null for a product that is not sold by weight",
    }),
    waiter: optionalTextField("Name of the clerk who recorded the row"),
    category: optionalTextField("Name of the subcategory"),
    parent_category: optionalTextField("Name of the category"),
    cancelled: booleanField("Whether the product was canceled. Canceled products are excluded from totals."),
    live_paid: nullWhenAbsent(z.boolean()).meta({
      description: "Whether the product was paid for separately from the rest of the order",
    }),
    transferred: booleanField(
      "Whether the product was transferred, for example to another order. Transferred products are excluded from totals.",
    ),
    parent_id: optionalTextField(
      "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row",
    ),
    price: z
      .object({
        currency: optionalTextField("Currency of the price"),
        tax: vatPercentField(),
        tier: optionalTextField("Name of the price list from which the price was taken"),
        tax_name: optionalTextField("Name of the tax"),
        amount: amountField("Price of one unit, or of one kilogram if `weight` is set, including VAT"),
      })
      .meta({ description: "Unit price of the product, with its currency, tax and price list" }),
    options: boundedArray(optionV1, 1_000).meta({ description: "Selected modifier options" }),
    discounts: boundedArray(discountV1, 1_000).meta({ description: "Discounts on the product" }),
    ordered_date: nullWhenAbsent(DateTimeV1).meta({ description: "When the product was ordered" }),
    is_loss: z.boolean().default(false).meta({
      description: "Whether the product was lost, for example broken or spoiled. Lost products do not count as sales.",
    }),
    loss_reason: optionalTextField("Reason why the product was lost; null if it was not lost or no reason was given"),
  })
  .refine(
    ({ price, options, quantity, weight }) =>
      isAmountInRange(unitPrice(price, options) * quantity * Math.max(1, weight ?? 1)),
    {
      path: ["quantity"],
      error: "Must not exceed 100,000,000,000 when multiplied by the weight and by the price including options",
    },
  )
  .refine(({ discounts }) => isAmountInRange(sumAmounts(discounts)), {
    path: ["discounts"],
    error: "Must add up to at most 100,000,000,000",
  })
  .meta({ id: "ItemV1", description: "A product in an order, in the V1 format", example: ticketItemV1Example });

export type TicketItemV1 = z.infer<typeof TicketItemV1>;

/** The payment mode of a payment or of a declared total, as an integer. */
export const paymentModeCodeV1 = z
  .int()
  .min(0)
  .meta({
    description: `Code of the payment mode: ${describeCodesV1(paymentModes)}. Other codes are treated as \`6\`.`,
    example: 1,
  });

/** A payment of a ticket, in the V1 format. */
export const TicketPaymentV1 = z
  .object({
    name: optionalTextField("Name of the payment method"),
    cancelled: booleanField("Whether the payment was canceled. Canceled payments are excluded from totals."),
    amount: amountField("Amount paid, net of change"),
    person_client_id: optionalTextField("ID of the clerk who recorded the payment"),
    person_name: optionalTextField("Name of the clerk who recorded the payment"),
    currency: optionalTextField("Currency of the payment"),
    mode: paymentModeCodeV1,
    client_id: orderRowIdField("ID of the row"),
    payment_method_client_id: optionalTextField("Catalog ID of the payment method"),
    type: z
      .int()
      .min(0)
      .meta({
        description: `Code of the payment type: ${describeCodesV1(paymentRowTypes)}. Other codes are treated as \`0\`.`,
        example: 0,
      }),
    locale: optionalTextField("Locale used to format the amount"),
    creation_date: DateTimeV1.meta({ description: "When the payment was recorded" }),
  })
  .meta({
    id: "PaymentV1",
    description: "A payment for an order, in the V1 format",
    example: ticketPaymentV1Example,
  });

export type TicketPaymentV1 = z.infer<typeof TicketPaymentV1>;

/** A set menu of a ticket, in the V1 format. */
const TicketMenuV1 = z
  .object({
    client_id: optionalTextField(
      "ID of the set menu in the point of sale. The catalog of the API does not contain set menus.",
    ),
    name: optionalTextField("Name of the menu"),
    price: amountField("Total of the menu including VAT"),
    items: boundedArray(TicketItemV1, 5_000).meta({ description: "Products in the menu" }),
  })
  .meta({ id: "MenuV1", description: "A set menu in an order, in the V1 format", example: ticketMenuV1Example });

/** An order, in the V1 format. */
export const TicketV1 = z
  .object({
    prints_count: optionalCountField("Number of times the bill was printed"),
    items: boundedArray(TicketItemV1, 5_000).meta({
      description: "Products of the order that are not part of a set menu",
    }),
    waiter: optionalTextField("Name of the clerk who owns the order"),
    payments: boundedArray(TicketPaymentV1, 5_000).meta({ description: "Payments for the order" }),
    signature: optionalLongTextField(
      "Signature that the point of sale computed for the order for tax purposes (fiscal signature)",
    ),
    menus: boundedArray(TicketMenuV1, 1_000).meta({ description: "Set menus of the order" }),
    number_guests: unitCountField("Number of guests"),
    live_paid: nullWhenAbsent(z.boolean()).meta({ description: "Whether the order was paid before it was closed" }),
    transferred: booleanField(
      "Whether the order was transferred to a hotel's property management system. Transferred orders are excluded from totals.",
    ),
    transferred_motif: optionalTextField("Destination of the transfer; null if the order was not transferred"),
    price: amountField("Total of the order including VAT"),
    ticket_date: nullWhenAbsent(DateTimeV1).meta({ description: "Date and time printed on the ticket" }),
    table: optionalTextField("Name of the table for which the order was recorded"),
    order_id: ClientGeneratedId.meta({
      description: "ID of the order: a UUID. In requests, the UUID can have the prefix `s`, which the API removes.",
    }),
    date_begin: DateTimeV1.meta({ description: "When the order was opened" }),
    date_end: nullWhenAbsent(DateTimeV1).meta({
      description: "When the order was closed; null if the order was not closed",
    }),
    waiter_id: optionalTextField("ID of the clerk who owns the order"),
    fiscal: optionalIntegerField(
      "Number that the point of sale assigned to the order for tax purposes (fiscal number)",
    ),
    room: optionalTextField("Name of the room in which the order was recorded"),
    room_id: optionalTextField("ID of the room in which the order was recorded"),
    cancelled: booleanField("Whether the order was canceled. Canceled orders are excluded from totals."),
    device_id: optionalTextField("ID of the device on which the order was recorded"),
    device_name: optionalTextField("Name of the device on which the order was recorded"),
    motif: optionalTextField("Reason why the order was canceled; null if it was not canceled or no reason was given"),
    customer_identifier: optionalTextField("ID of the customer; null if the customer is anonymous"),
  })
  .meta({ id: "TicketV1", description: "An order of a closed shift, in the V1 format", example: ticketV1Example });

export type TicketV1 = z.infer<typeof TicketV1>;
