import { array, object, z } from "zod";
import { orderServiceTypes, paymentModes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import { field } from "./fields.ts";

const orderItemV1 = object({
  description: field.nullableText("Name of the product"),
  category: field.nullableText("Name of the category"),
  subCategory: field.nullableText("Name of the subcategory"),
  quantity: field.integer("Number of units; negative for a refund"),
  total: field.computedAmount("Total of the product after discounts, including VAT"),
  unitPrice: field.computedAmount("Price of one unit, or of one kilogram if `weight` is set, without modifiers"),
  weight: z
    .number()
    .min(0)
    .nullable()
    .describe("Weight of one unit in kilograms; null for a product that is not sold by weight"),
  isCanceled: field.boolean("Whether the product was canceled. Canceled products are excluded from totals."),
  isTransferred: field.boolean(
    "Whether the product was transferred, for example to another order. Transferred products are excluded from totals.",
  ),
  transferReason: field.nullableText("Destination of the transfer; null if the product was not transferred"),
  cancelReason: field.nullableText(
    "Reason why the product was canceled; null if it was not canceled or no reason was given",
  ),
  discountsApplied: array(
    object({
      discountName: field.nullableText("Name of the discount"),
      discountValue: field.computedAmount("Amount deducted from the price of the product"),
      discountCatalogId: field.nullableText(
        "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
      ),
    }),
  ).describe("Validated discounts on the product"),
  modifiers: array(
    object({
      modifierGroupId: field.nullableText("Catalog ID of the modifier group"),
      modifierId: field.nullableText("Catalog ID of the modifier option"),
      name: field.nullableText("Name of the modifier option"),
    }),
  ).describe("Modifiers of the product"),
  tax: object({
    taxName: field.nullableText("Name of the tax"),
    taxRate: field.vatBasisPoints(),
    taxAmount: field.computedAmount("VAT included in the total of the product"),
    taxableAmount: field.computedAmount("Total of the product excluding VAT"),
    taxCatalogId: field.nullableText("Catalog ID of the tax"),
  }).describe("VAT on the product"),
  itemCatalogId: field.nullableText(
    "Catalog ID of the product; null for a temporary product, which is not in the catalog",
  ),
  stockImpactIndicator: field.boolean(
    "Whether the row affects stock. False for the child rows of a split bill, so that each product is counted once.",
  ),
  sku: field.nullableText("Stock keeping unit (SKU) of the product"),
  isLoss: field.boolean(
    "Whether the product was lost, for example broken or spoiled. Lost products do not count as sales.",
  ),
  lossReason: field.nullableText("Reason why the product was lost; null if it was not lost or no reason was given"),
  tier: field.nullableText("Name of the price list from which the price was taken"),
}).meta({ id: "OrderV1Item", description: "A product in an order", example: orderV1Example.items[0] });

export const OrderV1 = object({
  id: field.uuid("ID of the order, assigned by the point of sale"),
  createdAt: field.dateTime("When the API first computed the order from its till"),
  updatedAt: field.dateTime("When the API last computed the order from its till"),
  customerId: field.nullableText(
    "ID of the customer in the point of sale's cloud database; null if the customer is anonymous",
  ),
  deviceId: field.nullableText("ID of the device on which the order was recorded"),
  deviceName: field.nullableText("Name of the device on which the order was recorded"),
  locationId: field.uuid("ID of the location"),
  reportId: field.uuid("ID of the report that contains the order"),
  openedAt: field.dateTime("When the order was opened at the point of sale"),
  closedAt: field.nullableDateTime("When the order was closed; null if the order was not closed"),
  guests: field.count("Number of guests"),
  orderPlace: field.nullableText("Name of the room in which the order was recorded"),
  orderNumber: field.nullableText("Name of the table for which the order was recorded"),
  operatorId: field.nullableText("ID of the clerk who owns the order"),
  operatorName: field.nullableText("Name of the clerk who owns the order"),
  total: field.computedAmount("Total of the order including VAT"),
  totalTax: field.computedAmount("VAT included in the total of the order"),
  totalDiscount: field.computedAmount("Sum of the discounts on the order"),
  items: array(orderItemV1).describe("Products of the order that are not part of a set menu"),
  menus: array(
    object({
      name: field.nullableText("Name of the menu"),
      amount: field.computedAmount("Total of the menu including VAT"),
      items: array(orderItemV1).describe("Products in the menu"),
    }),
  ).describe("Set menus of the order"),
  payments: array(
    object({
      paymentName: field.nullableText("Name of the payment method"),
      paymentAmount: field.computedAmount("Amount paid, net of change and excluding the tip"),
      paymentMode: z
        .enum(paymentModes)
        .optional()
        .describe("Payment mode, such as cash or card; absent if the order was computed before version 2.1 of the API"),
      paymentCatalogId: field.nullableText("Catalog ID of the payment method"),
    }),
  ).describe("Validated payments for the order, without tips"),
  tips: array(
    object({
      tipName: field.nullableText("Name of the payment method"),
      tipAmount: field.computedAmount("Tip, in addition to the payment"),
      tipCatalogId: field.nullableText("Catalog ID of the payment method"),
    }),
  ).describe("Validated tips for the order"),
  isCanceled: field.boolean("Whether the order was canceled. Canceled orders are excluded from totals."),
  isTransferred: field.boolean(
    "Whether the order was transferred to a hotel's property management system. Transferred orders are excluded from totals.",
  ),
  transferReason: field.nullableText("Destination of the transfer; null if the order was not transferred"),
  cancelReason: field.nullableText(
    "Reason why the order was canceled; null if it was not canceled or no reason was given",
  ),
  channel: field.text("Sales channel of the order; `unknown` if the point of sale sent none"),
  serviceType: z.enum(orderServiceTypes).meta({
    description:
      "How the customer receives the order: in the restaurant (`eatin`), as takeout or by delivery; `unknown` if the point of sale sent no value",
  }),
  isTraining: field.boolean("Whether the order was recorded in training mode"),
  source: field.text("Application or platform from which the order comes; `unknown` if the point of sale sent none"),
  externalOrderId: field.nullableText(
    "ID that an external service, such as an ordering platform, assigned to the order",
  ),
  externalLocationId: field.nullableText(
    "ID that an external service, such as an ordering platform, uses for the location",
  ),
}).meta({
  id: "OrderV1",
  description: "An order of a closed shift, in the compact V1 format",
  example: orderV1Example,
});

export type OrderV1 = z.infer<typeof OrderV1>;
