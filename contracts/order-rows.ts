import { z } from "zod";
import { DateTime } from "./date-time.ts";
import {
  categoryColors,
  paymentModes,
  paymentProtocols,
  paymentTypes,
  pricingTypes,
  rowStatuses,
} from "./enumerations.ts";
import {
  discountRowExample,
  menuRowExample,
  modifierRowExample,
  paymentRowExample,
  productRowExample,
} from "./examples/till-v2.ts";
import {
  amount,
  flag,
  isAmount,
  limitedList,
  optionalAmount,
  optionalCurrency,
  optionalInteger,
  optionalLongText,
  optionalText,
  orNull,
  plainPercent,
  rowId,
  signedUnits,
} from "./fields.ts";
import { plus, priceByWeight, taxable, times } from "./money.ts";

/** The rows of an order: what was ordered, and how it was paid. */

/** One choice made for a product: a cooking, a topping. Its amount is part of the product row's total. */
export const ModifierRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was chosen" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("Price of the choice, for one unit of the product"),
    name: optionalText("Name of the choice"),
    modifierIndex: optionalInteger("Place of the choice in its group"),
    modifierGroupName: optionalText("Name of the group"),
    modifierGroupIndex: optionalInteger("Place of the group"),
    modifierId: optionalText("Id of the choice in the catalogue"),
    modifierGroupId: optionalText("Id of the group in the catalogue"),
  })
  .meta({ id: "ModifierRowInput", description: "A choice made for a product", example: modifierRowExample });

export type ModifierRow = z.infer<typeof ModifierRow>;

/** One discount on a product. Rows that share a discountGroupId are one discount over several products. */
export const DiscountRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was given" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("What the discount takes off this product"),
    status: z.enum(rowStatuses).meta({ description: "Only a validated discount counts" }),
    splitAllowed: flag("Whether it may be split over several bills"),
    name: optionalText("Name of the discount"),
    discountId: optionalText("Id of the discount in the catalogue"),
    discountGroupId: optionalText("Shared by the rows of one discount that spans several products"),
    extQoodosCheckInId: optionalText("Check-in of the loyalty service that gave it"),
  })
  .meta({ id: "DiscountRowInput", description: "A discount on a product", example: discountRowExample });

export type DiscountRow = z.infer<typeof DiscountRow>;

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

/** One set menu of an order, with the products that it is made of. Its total is the sum of theirs. */
export const MenuRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: orNull(DateTime).meta({ description: "When it was taken" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    unitPriceRow: optionalAmount("Price of the menu"),
    currencyCode: optionalCurrency(),
    amountToAdd: optionalAmount("What the menu adds to the sum of its products' prices"),
    amountToSubtract: optionalAmount("What the menu takes off the sum of its products' prices"),
    pricingId: optionalText("Id of the price list"),
    menuId: optionalText("Id of the menu in the catalogue"),
    pricingName: optionalText("Name of the price list"),
    pricingType: orNull(z.enum(pricingTypes)).meta({ description: "Which price list applied" }),
    name: optionalText("Name of the menu"),
    parentMenuRowId: optionalText(
      "For the child of a split bill: the row that it was split from. Such a row adds to sales, not to quantities",
    ),
    totalRow: amount("Total of the menu, VAT included"),
    productRowList: limitedList(ProductRow, 5_000).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuRowInput", description: "A set menu of an order", example: menuRowExample });

export type MenuRow = z.infer<typeof MenuRow>;

/**
 * One payment, change, tip or account movement of an order. What decides where its money goes is required: id, moment,
 * amounts, status, type and mode.
 */
export const PaymentRow = z
  .object({
    id: rowId("Id of the row"),
    recordedAt: DateTime.meta({ description: "When it was taken" }),
    modifiedAt: orNull(DateTime).meta({ description: "When the row last changed" }),
    amount: amount("Net of change, and without its tip"),
    changeAmount: amount("Change given back"),
    changePaymentName: optionalText("Name of the payment method that the change was given in"),
    changePaymentMode: orNull(z.enum(paymentModes)).meta({
      description: "Mode of the payment method that the change was given in",
    }),
    lastProofOfPaymentAmount: optionalAmount("Amount of the last proof of payment"),
    totalProofOfPaymentAmount: optionalAmount("Amount of all proofs of payment"),
    status: z.enum(rowStatuses).meta({ description: "Only a validated payment counts" }),
    name: optionalText("Name of the payment method"),
    paymentType: z.enum(paymentTypes).meta({ description: "What kind of movement it is" }),
    paymentMode: z.enum(paymentModes).meta({ description: "How it was paid" }),
    paymentId: optionalText("Id of the payment method in the catalogue"),
    changePaymentId: optionalText("Id of the payment method that the change was given in"),
    tipAmount: optionalAmount("Tip, on top of the amount"),
    externalServiceId: optionalText("Id in an external service"),
    currencyCode: optionalCurrency(),
    sellerCardReceipt: optionalLongText("The seller's card receipt"),
    buyerCardReceipt: optionalLongText("The buyer's card receipt"),
    firebaseCustomerRefKey: optionalText("Reference of the customer"),
    operatorId: optionalText("Id of the clerk who took it"),
    operatorName: optionalText("Name of the clerk who took it"),
    paymentProtocol: z.enum(paymentProtocols).default("unknown").meta({ description: "How the terminal was driven" }),
  })
  .meta({ id: "PaymentRowInput", description: "A payment of an order", example: paymentRowExample });

export type PaymentRow = z.infer<typeof PaymentRow>;

/** The amounts of a product row that follow from its other fields. */
type Computed =
  | "unitPriceRowWithModifier"
  | "totalRowWithModifier"
  | "totalDiscount"
  | "totalRow"
  | "taxableAmount"
  | "taxAmount";

/** Returns the row with every amount that follows from its unit price, quantity, weight, modifiers, discounts and rate. */
export function priced(row: Omit<ProductRow, Computed>): ProductRow {
  const { unitPriceRow, quantity, weight, taxRate } = row;
  const unitPriceRowWithModifier = row.modifierRowList.reduce((sum, { amount }) => plus(sum, amount), unitPriceRow);
  const totalRowWithModifier =
    weight === null
      ? times(unitPriceRowWithModifier, quantity)
      : priceByWeight(unitPriceRowWithModifier, quantity, weight);
  const validated = row.discountRowList.filter(({ status }) => status === "validated");
  const totalDiscount = validated.reduce((sum, { amount }) => plus(sum, amount), 0);
  const totalRow = plus(totalRowWithModifier, -totalDiscount);
  const taxableAmount = taxable(totalRow, taxRate);
  return {
    ...row,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: plus(totalRow, -taxableAmount),
  };
}

/** Whether a row is a sale when its order is. */
export function rowCounts(row: ProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

interface OrderRows {
  productRowList: readonly ProductRow[];
  menuRowList: readonly MenuRow[];
}

/** Returns all rows of an order, whatever became of them, in the till's order: those outside menus first. */
export function allRows({ productRowList, menuRowList }: OrderRows): ProductRow[] {
  return [...productRowList, ...menuRowList.flatMap((menuRow) => menuRow.productRowList)];
}
