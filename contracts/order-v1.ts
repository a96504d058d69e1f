import { z } from "zod";
import { UtcDateTimeSchema } from "./date-time.ts";
import { orderServiceTypes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import { computedAmountField, nonNegativeCountField, nullableTextField, vatBasisPointsField } from "./fields.ts";

const orderItemV1 = z
  .object({
    description: nullableTextField("Name of the product"),
    category: nullableTextField("Name of the category"),
    subCategory: nullableTextField("Name of the subcategory"),
    quantity: z.int().meta({ description: "Number of units; negative for a refund" }),
    total: computedAmountField("Total of the product after discounts, including VAT"),
    unitPrice: computedAmountField("Price of one unit, or of one kilogram if `weight` is set, without modifiers"),
    weight: z
      .number()
      .min(0)
      .nullable()
      .meta({ description: "Weight of one unit in kilograms; null for a product that is not sold by weight" }),
    isCanceled: z
      .boolean()
      .meta({ description: "Whether the product was canceled. Canceled products are excluded from totals." }),
    isTransferred: z.boolean().meta({
      description:
        "Whether the product was transferred, for example to another order. Transferred products are excluded from totals.",
    }),
    transferReason: nullableTextField("Destination of the transfer; null if the product was not transferred"),
    cancelReason: nullableTextField(
      "Reason why the product was canceled; null if it was not canceled or no reason was given",
    ),
    discountsApplied: z
      .array(
        z.object({
          discountName: nullableTextField("Name of the discount"),
          discountValue: computedAmountField("Amount deducted from the price of the product"),
          discountCatalogId: nullableTextField(
            "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
          ),
        }),
      )
      .meta({ description: "Validated discounts on the product" }),
    modifiers: z
      .array(
        z.object({
          modifierGroupId: nullableTextField("Catalog ID of the modifier group"),
          modifierId: nullableTextField("Catalog ID of the modifier option"),
          name: nullableTextField("Name of the modifier option"),
        }),
      )
      .meta({ description: "Modifiers of the product" }),
    tax: z
      .object({
        taxName: nullableTextField("Name of the tax"),
        taxRate: vatBasisPointsField(),
        taxAmount: computedAmountField("VAT included in the total of the product"),
        taxableAmount: computedAmountField("Total of the product excluding VAT"),
        taxCatalogId: nullableTextField("Catalog ID of the tax"),
      })
      .meta({ description: "VAT on the product" }),
    itemCatalogId: nullableTextField(
      "Catalog ID of the product; null for a temporary product, which is not in the catalog",
    ),
    stockImpactIndicator: z.boolean().meta({
      description:
        "Whether the row affects stock. False for the child rows of a split bill, so that each product is counted once.",
    }),
    sku: nullableTextField("Stock keeping unit (SKU) of the product"),
    isLoss: z.boolean().meta({
      description: "Whether the product was lost, for example broken or spoiled. Lost products do not count as sales.",
    }),
    lossReason: nullableTextField("Reason why the product was lost; null if it was not lost or no reason was given"),
    tier: nullableTextField("Name of the price list from which the price was taken"),
  })
  .meta({ id: "OrderV1Item", description: "A product in an order", example: orderV1Example.items[0] });

/** An order of a till, as `/v1/orders` returns it. */
export const OrderV1 = z
  .object({
    id: z.guid().meta({ description: "ID of the order, assigned by the point of sale" }),
    createdAt: UtcDateTimeSchema.meta({ description: "When the API first computed the order from its till" }),
    updatedAt: UtcDateTimeSchema.meta({ description: "When the API last computed the order from its till" }),
    customerId: nullableTextField(
      "ID of the customer in the point of sale's cloud database; null if the customer is anonymous",
    ),
    deviceId: nullableTextField("ID of the device on which the order was recorded"),
    deviceName: nullableTextField("Name of the device on which the order was recorded"),
    locationId: z.guid().meta({ description: "ID of the location" }),
    reportId: z.guid().meta({ description: "ID of the report that contains the order" }),
    openedAt: UtcDateTimeSchema.meta({ description: "When the order was opened at the point of sale" }),
    closedAt: UtcDateTimeSchema.nullable().meta({
      description: "When the order was closed; null if the order was not closed",
    }),
    guests: nonNegativeCountField("Number of guests"),
    orderPlace: nullableTextField("Name of the room in which the order was recorded"),
    orderNumber: nullableTextField("Name of the table for which the order was recorded"),
    operatorId: nullableTextField("ID of the clerk who owns the order"),
    operatorName: nullableTextField("Name of the clerk who owns the order"),
    total: computedAmountField("Total of the order including VAT"),
    totalTax: computedAmountField("VAT included in the total of the order"),
    totalDiscount: computedAmountField("Sum of the discounts on the order"),
    items: z.array(orderItemV1).meta({ description: "Products of the order that are not part of a set menu" }),
    menus: z
      .array(
        z.object({
          name: nullableTextField("Name of the menu"),
          amount: computedAmountField("Total of the menu including VAT"),
          items: z.array(orderItemV1).meta({ description: "Products in the menu" }),
        }),
      )
      .meta({ description: "Set menus of the order" }),
    payments: z
      .array(
        z.object({
          paymentName: nullableTextField("Name of the payment method"),
          paymentAmount: computedAmountField("Amount paid, net of change and excluding the tip"),
          paymentCatalogId: nullableTextField("Catalog ID of the payment method"),
        }),
      )
      .meta({ description: "Validated payments for the order, without tips" }),
    tips: z
      .array(
        z.object({
          tipName: nullableTextField("Name of the payment method"),
          tipAmount: computedAmountField("Tip, in addition to the payment"),
          tipCatalogId: nullableTextField("Catalog ID of the payment method"),
        }),
      )
      .meta({ description: "Validated tips for the order" }),
    isCanceled: z
      .boolean()
      .meta({ description: "Whether the order was canceled. Canceled orders are excluded from totals." }),
    isTransferred: z.boolean().meta({
      description:
        "Whether the order was transferred to a hotel's property management system. Transferred orders are excluded from totals.",
    }),
    transferReason: nullableTextField("Destination of the transfer; null if the order was not transferred"),
    cancelReason: nullableTextField(
      "Reason why the order was canceled; null if it was not canceled or no reason was given",
    ),
    channel: z.string().meta({ description: "Sales channel of the order; `unknown` if the point of sale sent none" }),
    serviceType: z.enum(orderServiceTypes).meta({
      description:
        "How the customer receives the order: in the restaurant (`eatin`), as takeout or by delivery; `unknown` if the point of sale sent no value",
    }),
    isTraining: z.boolean().meta({ description: "Whether the order was recorded in training mode" }),
    source: z.string().meta({
      description: "Application or platform from which the order comes; `unknown` if the point of sale sent none",
    }),
    externalOrderId: nullableTextField(
      "ID that an external service, such as an ordering platform, assigned to the order",
    ),
    externalLocationId: nullableTextField(
      "ID that an external service, such as an ordering platform, uses for the location",
    ),
  })
  .meta({
    id: "OrderV1",
    description: "An order of a closed shift, in the compact V1 format",
    example: orderV1Example,
  });

export type OrderV1 = z.infer<typeof OrderV1>;
