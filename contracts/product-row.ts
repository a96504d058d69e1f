import { z } from "zod";
import { DateTime } from "./date-time.ts";
import { DiscountRow } from "./discount-row.ts";
import { categoryColors, pricingTypes } from "./enumerations.ts";
import { productRowExample } from "./examples/till-v2.ts";
import {
  amount,
  flag,
  isAmount,
  optionalCurrency,
  optionalInteger,
  optionalLongText,
  optionalText,
  orNull,
  plainPercent,
  rowId,
  signedUnits,
} from "./fields.ts";
import { limitedList } from "./length-limits.ts";
import { ModifierRow } from "./modifier-row.ts";

/**
 * One product of an order. Required is what decides whether and for how much it counts: its id, quantity, amounts, VAT
 * rate and flags, and the lists of its modifiers and discounts; only `isLoss` is false when absent.
 */
export const ProductRow = z
  .object({
    id: rowId("Id of the row"),
    parentProductRowId: optionalText(
      "For the child of a split bill: the row that it was split from. Such a row adds to sales, not to quantities",
    ),
    productId: optionalText("Id of the product in the catalogue; null for a temporary product"),
    categoryId: optionalText("Id of the category"),
    subCategoryId: optionalText("Id of the sub-category"),
    taxId: optionalText("Id of the tax in the catalogue"),
    priceId: optionalText("Id of the price in the catalogue"),
    pricingId: optionalText("Id of the price list"),
    operatorId: optionalText("Id of the clerk who took it"),
    deviceIdentifier: optionalText("Id of the device that it was taken on"),
    recordedAt: orNull(DateTime).meta({ description: "When it was taken" }),
    modifiedAt: orNull(DateTime).meta({
      description: "When the row last changed; for a canceled row, when it was canceled",
    }),
    reclaimedAt: orNull(DateTime).meta({ description: "When the kitchen was asked for it again" }),
    transmittedAt: orNull(DateTime).meta({ description: "When it was sent to the kitchen" }),
    orderedAt: orNull(DateTime).meta({ description: "When it was ordered" }),
    taxName: optionalText("Name of the tax"),
    taxRate: plainPercent(),
    taxAmount: amount("VAT in the row's total"),
    taxableAmount: amount("The row's total without VAT"),
    subCategoryName: optionalText("Name of the sub-category"),
    categoryName: optionalText("Name of the category"),
    categoryCatalogColor: orNull(z.enum(categoryColors)).meta({
      description: "Colour of the category in the catalogue",
    }),
    unitPriceRow: amount("Price of one unit (of one kilogram when there is a weight)"),
    unitPriceRowWithModifier: amount("Price of one unit with its modifiers"),
    totalRowWithModifier: amount("Price of the row with its modifiers, before discounts"),
    totalDiscount: amount("What discounts take off the row"),
    totalRow: amount("Total of the row, VAT included"),
    quantity: signedUnits("How many units; negative for a refund"),
    weight: orNull(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null when not sold by weight",
    }),
    pricingName: optionalText("Name of the price list"),
    pricingType: orNull(z.enum(pricingTypes)).meta({ description: "Which price list applied" }),
    deviceName: optionalText("Name of the device that it was taken on"),
    operatorName: optionalText("Name of the clerk who took it"),
    name: optionalText("Name of the product"),
    canceledReason: optionalText("Why it was canceled"),
    isTransferred: flag("Moved elsewhere: it does not count here"),
    transferredTo: optionalText("Where it was moved to"),
    comment: optionalLongText("Comment for the kitchen"),
    isMerged: flag("Whether it came from a merged order"),
    isCustomPrice: flag("Whether the clerk set the price"),
    validated: flag("Whether the clerk validated it"),
    isCanceled: flag("Canceled: it does not count"),
    currencyCode: optionalCurrency(),
    menuStepName: optionalText("Step of the menu that it is part of"),
    menuStepIndex: optionalInteger("Place of that step in the menu"),
    indexInPrepSequence: optionalInteger("Place in its preparation sequence"),
    preparationSequence: optionalInteger("Preparation sequence"),
    sku: optionalText("Stock keeping unit"),
    isLoss: z.boolean().default(false).meta({ description: "Lost (broken, spoiled): it does not count as a sale" }),
    lossReason: optionalText("Why it was lost"),
    menuRowId: optionalText("The menu row that it is part of"),
    modifierRowList: limitedList(ModifierRow, 1_000).meta({ description: "Choices made for it" }),
    discountRowList: limitedList(DiscountRow, 1_000).meta({ description: "Discounts on it" }),
  })
  .refine(({ quantity, modifierRowList }) => modifierRowList.every(({ amount }) => isAmount(amount * quantity)), {
    path: ["quantity"],
    error: "Must be so that the amount of a modifier times the quantity is an amount",
  })
  .meta({ id: "ProductRowInput", description: "A product of an order", example: productRowExample });

export type ProductRow = z.infer<typeof ProductRow>;
