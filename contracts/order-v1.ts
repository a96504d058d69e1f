import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { orderServiceTypes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import { amountField, countField, nullableTextField, vatBasisPointsField } from "./fields.ts";

const orderItemV1 = z
  .object({
    description: nullableTextField("Name of the product"),
    category: nullableTextField("Name of the category"),
    subCategory: nullableTextField("Name of the sub-category"),
    quantity: z.int().meta({ description: "How many; negative for a refund" }),
    total: amountField("Total, VAT included"),
    unitPrice: amountField("Price of one unit"),
    weight: z.number().min(0).nullable().meta({ description: "Weight of one unit in kilograms" }),
    isCanceled: z.boolean().meta({ description: "Canceled: it does not count in totals" }),
    isTransferred: z.boolean().meta({ description: "Transferred to another order: it does not count in totals" }),
    transferReason: nullableTextField("Where it was transferred to"),
    cancelReason: nullableTextField("Why it was canceled"),
    discountsApplied: z
      .array(
        z.object({
          discountName: nullableTextField("Name"),
          discountValue: amountField("What it took off"),
          discountCatalogId: nullableTextField("Id in the catalogue"),
        }),
      )
      .meta({ description: "Validated discounts" }),
    modifiers: z.array(
      z.object({
        modifierGroupId: nullableTextField("Id of the group in the catalogue"),
        modifierId: nullableTextField("Id of the choice in the catalogue"),
        name: nullableTextField("Name of the choice"),
      }),
    ),
    tax: z.object({
      taxName: nullableTextField("Name of the tax"),
      taxRate: vatBasisPointsField(),
      taxAmount: amountField("VAT"),
      taxableAmount: amountField("Total without VAT"),
      taxCatalogId: nullableTextField("Id of the tax in the catalogue"),
    }),
    itemCatalogId: nullableTextField("Id of the product in the catalogue; null for a temporary product"),
    stockImpactIndicator: z
      .boolean()
      .meta({ description: "True only for the original item of a split, so that stock counts it once" }),
    sku: nullableTextField("Stock keeping unit"),
    isLoss: z.boolean().meta({ description: "Lost: it does not count as a sale" }),
    lossReason: nullableTextField("Why it was lost"),
    tier: nullableTextField("Name of the price list"),
  })
  .meta({ id: "OrderV1Item", description: "A product of an order", example: orderV1Example.items[0] });

/** An order of a till, as readers of `/v1/orders/` get it. */
export const OrderV1 = z
  .object({
    id: z.guid().meta({ description: "Id of the order, given by the point of sale" }),
    createdAt: UtcDateTime.meta({ description: "When the order was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When the order was last received" }),
    customerId: nullableTextField("Reference of the customer; null if anonymous"),
    deviceId: nullableTextField("Id of the device"),
    deviceName: nullableTextField("Name of the device"),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    reportId: z.guid().meta({ description: "The report that it is part of" }),
    openedAt: UtcDateTime.meta({ description: "When it was opened at the point of sale" }),
    closedAt: UtcDateTime.nullable().meta({ description: "When it was closed; null if it was not" }),
    guests: countField("How many guests"),
    orderPlace: nullableTextField("Name of the room"),
    orderNumber: nullableTextField("Name of the table"),
    operatorId: nullableTextField("Id of the clerk"),
    operatorName: nullableTextField("Name of the clerk"),
    total: amountField("Total, VAT included"),
    totalTax: amountField("VAT in the total"),
    totalDiscount: amountField("What discounts took off"),
    items: z.array(orderItemV1).meta({ description: "Products that are not part of a menu" }),
    menus: z.array(
      z.object({
        name: nullableTextField("Name of the menu"),
        amount: amountField("Total of the menu, VAT included"),
        items: z.array(orderItemV1),
      }),
    ),
    payments: z
      .array(
        z.object({
          paymentName: nullableTextField("Name of the payment method"),
          paymentAmount: amountField("What was paid, net of change and without tip"),
          paymentCatalogId: nullableTextField("Id of the payment method in the catalogue"),
        }),
      )
      .meta({ description: "Validated payments" }),
    tips: z
      .array(
        z.object({
          tipName: nullableTextField("Name of the payment method"),
          tipAmount: amountField("Tip"),
          tipCatalogId: nullableTextField("Id of the payment method in the catalogue"),
        }),
      )
      .meta({ description: "Validated tips" }),
    isCanceled: z.boolean().meta({ description: "Canceled: it does not count in totals" }),
    isTransferred: z.boolean().meta({ description: "Transferred: it does not count in totals" }),
    transferReason: nullableTextField("Where it was transferred to"),
    cancelReason: nullableTextField("Why it was canceled"),
    channel: z.string().meta({ description: "Channel that it came through" }),
    serviceType: z.enum(orderServiceTypes).meta({ description: "How it is served" }),
    isTraining: z.boolean().meta({ description: "Made in school mode" }),
    source: z.string().meta({ description: "Where it came from" }),
    externalOrderId: nullableTextField("Id of the order in an external service"),
    externalLocationId: nullableTextField("Id of the location in an external service"),
  })
  .meta({ id: "OrderV1", description: "An order of a till", example: orderV1Example });

export type OrderV1 = z.infer<typeof OrderV1>;
