import { object, z } from "zod";
import { DateTimeV1 } from "./date-time.ts";
import { describeCodesV1, paymentModes, paymentRowTypes } from "./enumerations.ts";
import {
  ticketItemV1Example,
  ticketMenuV1Example,
  ticketPaymentV1Example,
  ticketV1Example,
} from "./examples/till-v1.ts";
import { boundedArray, field, isAmountInRange, nullWhenAbsent } from "./fields.ts";
import { PosOrderData } from "./order-data.ts";
import {
  PosOrderDiscountRow,
  PosOrderMenuRow,
  PosOrderModifierRow,
  PosOrderPaymentRow,
  PosOrderProductRow,
} from "./order-rows.ts";

// Fields that mean the same as in the current format are taken from it.
const order = PosOrderData.shape;
const row = PosOrderProductRow.shape;
const modifier = PosOrderModifierRow.shape;
const discount = PosOrderDiscountRow.shape;
const payment = PosOrderPaymentRow.shape;

const optionV1 = object({
  client_id: modifier.modifierId,
  name: modifier.name,
  price: field.amount("Price of the option for one unit of the product"),
  group_id: modifier.modifierGroupId,
  group_name: modifier.modifierGroupName,
});

const discountV1 = object({
  client_id: discount.discountId,
  name: discount.name,
  amount: discount.amount,
});

const sumAmounts = (discounts: { amount: number }[]) => discounts.reduce((total, { amount }) => total + amount, 0);

function unitPrice(price: { amount: number }, options: { price: number }[]): number {
  return options.reduce((total, option) => total + option.price, price.amount);
}

/**
 * A product of a ticket, in the V1 format. Fields that affect figures are required, except `weight`, which is null by
 * default, and `is_loss`, which is false by default.
 */
export const TicketItemV1 = object({
  client_id: row.id,
  name: row.name,
  step: row.menuStepName,
  step_index: row.menuStepIndex,
  creation_date: nullWhenAbsent(DateTimeV1).describe("When the row was recorded"),
  motif: row.canceledReason,
  item_client_id: row.productId,
  sku: row.sku,
  quantity: field.unitCount("Number of units", { min: 1 }),
  weight: row.weight,
  waiter: row.operatorName,
  category: row.subCategoryName,
  parent_category: row.categoryName,
  cancelled: row.isCanceled,
  live_paid: nullWhenAbsent(z.boolean()).meta({
    description: "Whether the product was paid for separately from the rest of the order",
  }),
  transferred: row.isTransferred,
  parent_id: field.optionalText(
    "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row",
  ),
  price: object({
    currency: field.optionalText("Currency of the price"),
    tax: field.vatPercent(),
    tier: field.optionalText("Name of the price list from which the price was taken"),
    tax_name: field.optionalText("Name of the tax"),
    amount: field.amount("Price of one unit, or of one kilogram if `weight` is set, including VAT"),
  }).describe("Unit price of the product, with its currency, tax and price list"),
  options: boundedArray(optionV1, 1_000).describe("Selected modifier options"),
  discounts: boundedArray(discountV1, 1_000).describe("Discounts on the product"),
  ordered_date: nullWhenAbsent(DateTimeV1).describe("When the product was ordered"),
  is_loss: row.isLoss,
  loss_reason: row.lossReason,
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

export const TicketPaymentV1 = object({
  name: payment.name,
  cancelled: field.boolean("Whether the payment was canceled. Canceled payments are excluded from totals."),
  amount: field.amount("Amount paid, net of change"),
  person_client_id: payment.operatorId,
  person_name: payment.operatorName,
  currency: field.optionalText("Currency of the payment"),
  mode: paymentModeCodeV1,
  client_id: payment.id,
  payment_method_client_id: payment.paymentId,
  type: z
    .int()
    .min(0)
    .meta({
      description: `Code of the payment type: ${describeCodesV1(paymentRowTypes)}. Other codes are treated as \`0\`.`,
      example: 0,
    }),
  locale: field.optionalText("Locale used to format the amount"),
  creation_date: DateTimeV1.describe("When the payment was recorded"),
}).meta({
  id: "PaymentV1",
  description: "A payment for an order, in the V1 format",
  example: ticketPaymentV1Example,
});

export type TicketPaymentV1 = z.infer<typeof TicketPaymentV1>;

const TicketMenuV1 = object({
  client_id: PosOrderMenuRow.shape.menuId,
  name: PosOrderMenuRow.shape.name,
  price: PosOrderMenuRow.shape.totalRow,
  items: boundedArray(TicketItemV1, 5_000).describe("Products in the menu"),
}).meta({ id: "MenuV1", description: "A set menu in an order, in the V1 format", example: ticketMenuV1Example });

export const TicketV1 = object({
  prints_count: order.billPrintCount,
  items: boundedArray(TicketItemV1, 5_000).describe("Products of the order that are not part of a set menu"),
  waiter: order.operatorName,
  payments: boundedArray(TicketPaymentV1, 5_000).describe("Payments for the order"),
  signature: order.signature,
  menus: boundedArray(TicketMenuV1, 1_000).describe("Set menus of the order"),
  number_guests: order.guestsCount,
  live_paid: nullWhenAbsent(z.boolean()).describe("Whether the order was paid before it was closed"),
  transferred: order.isTransferred,
  transferred_motif: field.optionalText("Destination of the transfer; null if the order was not transferred"),
  price: field.amount("Total of the order including VAT"),
  ticket_date: nullWhenAbsent(DateTimeV1).describe("Date and time printed on the ticket"),
  table: order.tableName,
  order_id: order.id,
  date_begin: DateTimeV1.describe("When the order was opened"),
  date_end: nullWhenAbsent(DateTimeV1).describe("When the order was closed; null if the order was not closed"),
  waiter_id: order.operatorId,
  fiscal: order.fiscalNumber,
  room: order.roomName,
  room_id: order.roomId,
  cancelled: order.isCanceled,
  device_id: order.deviceIdentifier,
  device_name: order.deviceName,
  motif: order.canceledReason,
  customer_identifier: field.optionalText("ID of the customer; null if the customer is anonymous"),
}).meta({ id: "TicketV1", description: "An order of a closed shift, in the V1 format", example: ticketV1Example });

export type TicketV1 = z.infer<typeof TicketV1>;
