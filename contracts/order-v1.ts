import { z } from "zod";
import { UtcDateTime } from "./date-time.ts";
import { serviceTypes } from "./enumerations.ts";
import { orderV1Example } from "./examples/order-v1.ts";
import { amount, count, hundredthsOfPercent, textOrNull } from "./fields.ts";

const item = z
  .object({
    description: textOrNull("Name of the product"),
    category: textOrNull("Name of the category"),
    subCategory: textOrNull("Name of the sub-category"),
    quantity: z.int().meta({ description: "How many; negative for a refund" }),
    total: amount("Total, VAT included"),
    unitPrice: amount("Price of one unit"),
    weight: z.number().min(0).nullable().meta({ description: "Weight of one unit in kilograms" }),
    isCanceled: z.boolean().meta({ description: "Canceled: it does not count in totals" }),
    isTransferred: z.boolean().meta({ description: "Transferred to another order: it does not count in totals" }),
    transferReason: textOrNull("Where it was transferred to"),
    cancelReason: textOrNull("Why it was canceled"),
    discountsApplied: z
      .array(
        z.object({
          discountName: textOrNull("Name"),
          discountValue: amount("What it took off"),
          discountCatalogId: textOrNull("Id in the catalogue"),
        }),
      )
      .meta({ description: "Validated discounts" }),
    modifiers: z.array(
      z.object({
        modifierGroupId: textOrNull("Id of the group in the catalogue"),
        modifierId: textOrNull("Id of the choice in the catalogue"),
        name: textOrNull("Name of the choice"),
      }),
    ),
    tax: z.object({
      taxName: textOrNull("Name of the tax"),
      taxRate: hundredthsOfPercent(),
      taxAmount: amount("VAT"),
      taxableAmount: amount("Total without VAT"),
      taxCatalogId: textOrNull("Id of the tax in the catalogue"),
    }),
    itemCatalogId: textOrNull("Id of the product in the catalogue; null for a temporary product"),
    stockImpactIndicator: z
      .boolean()
      .meta({ description: "True only for the original item of a split, so that stock counts it once" }),
    sku: textOrNull("Stock keeping unit"),
    isLoss: z.boolean().meta({ description: "Lost: it does not count as a sale" }),
    lossReason: textOrNull("Why it was lost"),
    tier: textOrNull("Name of the price list"),
  })
  .meta({ id: "OrderV1Item", description: "A product of an order", example: orderV1Example.items[0] });

/** An order of a till, as readers of `/v1/orders/` get it. */
export const OrderV1 = z
  .object({
    id: z.guid().meta({ description: "Id of the order, given by the point of sale" }),
    createdAt: UtcDateTime.meta({ description: "When the order was first received" }),
    updatedAt: UtcDateTime.meta({ description: "When the order was last received" }),
    customerId: textOrNull("Reference of the customer; null if anonymous"),
    deviceId: textOrNull("Id of the device"),
    deviceName: textOrNull("Name of the device"),
    locationId: z.guid().meta({ description: "The location that it is of" }),
    reportId: z.guid().meta({ description: "The report that it is part of" }),
    openedAt: UtcDateTime.meta({ description: "When it was opened at the point of sale" }),
    closedAt: UtcDateTime.nullable().meta({ description: "When it was closed; null if it was not" }),
    guests: count("How many guests"),
    orderPlace: textOrNull("Name of the room"),
    orderNumber: textOrNull("Name of the table"),
    operatorId: textOrNull("Id of the clerk"),
    operatorName: textOrNull("Name of the clerk"),
    total: amount("Total, VAT included"),
    totalTax: amount("VAT in the total"),
    totalDiscount: amount("What discounts took off"),
    items: z.array(item).meta({ description: "Products that are not part of a menu" }),
    menus: z.array(
      z.object({
        name: textOrNull("Name of the menu"),
        amount: amount("Total of the menu, VAT included"),
        items: z.array(item),
      }),
    ),
    payments: z
      .array(
        z.object({
          paymentName: textOrNull("Name of the payment method"),
          paymentAmount: amount("What was paid, net of change and without tip"),
          paymentCatalogId: textOrNull("Id of the payment method in the catalogue"),
        }),
      )
      .meta({ description: "Validated payments" }),
    tips: z
      .array(
        z.object({
          tipName: textOrNull("Name of the payment method"),
          tipAmount: amount("Tip"),
          tipCatalogId: textOrNull("Id of the payment method in the catalogue"),
        }),
      )
      .meta({ description: "Validated tips" }),
    isCanceled: z.boolean().meta({ description: "Canceled: it does not count in totals" }),
    isTransferred: z.boolean().meta({ description: "Transferred: it does not count in totals" }),
    transferReason: textOrNull("Where it was transferred to"),
    cancelReason: textOrNull("Why it was canceled"),
    channel: z.string().meta({ description: "Channel that it came through" }),
    serviceType: z.enum(serviceTypes).meta({ description: "How it is served" }),
    isTraining: z.boolean().meta({ description: "Made in school mode" }),
    source: z.string().meta({ description: "Where it came from" }),
    externalOrderId: textOrNull("Id of the order in an external service"),
    externalLocationId: textOrNull("Id of the location in an external service"),
  })
  .meta({ id: "OrderV1", description: "An order of a till", example: orderV1Example });

export type OrderV1 = z.infer<typeof OrderV1>;
