import { z } from "zod";
import { DateTime } from "./date-time.ts";
import {
  orderRowStatuses,
  paymentModes,
  paymentTerminalProtocols,
  paymentTypes,
  priceListTypes,
  productCategoryColors,
} from "./enumerations.ts";
import {
  discountRowExample,
  menuRowExample,
  modifierRowExample,
  paymentRowExample,
  productRowExample,
} from "./examples/till-v2.ts";
import {
  amountField,
  booleanField,
  boundedArray,
  isAmountInRange,
  nullWhenAbsent,
  optionalAmountField,
  optionalCurrencyField,
  optionalIntegerField,
  optionalLongTextField,
  optionalTextField,
  rowIdField,
  signedUnitCountField,
  vatPercentField,
} from "./fields.ts";
import { addAmounts, amountWithoutTax, multiplyAmount, priceByWeight } from "./money.ts";

/** The rows of an order: what was ordered, and how it was paid. */

/** One choice made for a product: a cooking, a topping. Its amount is part of the product row's total. */
export const ModifierRow = z
  .object({
    id: rowIdField("Id of the row"),
    recordedAt: nullWhenAbsent(DateTime).meta({ description: "When it was chosen" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({ description: "When the row last changed" }),
    amount: amountField("Price of the choice, for one unit of the product"),
    name: optionalTextField("Name of the choice"),
    modifierIndex: optionalIntegerField("Place of the choice in its group"),
    modifierGroupName: optionalTextField("Name of the group"),
    modifierGroupIndex: optionalIntegerField("Place of the group"),
    modifierId: optionalTextField("Id of the choice in the catalogue"),
    modifierGroupId: optionalTextField("Id of the group in the catalogue"),
  })
  .meta({ id: "ModifierRowInput", description: "A choice made for a product", example: modifierRowExample });

export type ModifierRow = z.infer<typeof ModifierRow>;

/** One discount on a product. Rows that share a discountGroupId are one discount over several products. */
export const DiscountRow = z
  .object({
    id: rowIdField("Id of the row"),
    recordedAt: nullWhenAbsent(DateTime).meta({ description: "When it was given" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({ description: "When the row last changed" }),
    amount: amountField("What the discount takes off this product"),
    status: z.enum(orderRowStatuses).meta({ description: "Only a validated discount counts" }),
    splitAllowed: booleanField("Whether it may be split over several bills"),
    name: optionalTextField("Name of the discount"),
    discountId: optionalTextField("Id of the discount in the catalogue"),
    discountGroupId: optionalTextField("Shared by the rows of one discount that spans several products"),
    extQoodosCheckInId: optionalTextField("Check-in of the loyalty service that gave it"),
  })
  .meta({ id: "DiscountRowInput", description: "A discount on a product", example: discountRowExample });

export type DiscountRow = z.infer<typeof DiscountRow>;

/**
 * One product of an order. Required is what decides whether and for how much it counts: its id, quantity, amounts, VAT
 * rate and flags, and the lists of its modifiers and discounts; only `isLoss` is false when absent.
 */
export const ProductRow = z
  .object({
    id: rowIdField("Id of the row"),
    parentProductRowId: optionalTextField(
      "For the child of a split bill: the row that it was split from. Such a row adds to sales, not to quantities",
    ),
    productId: optionalTextField("Id of the product in the catalogue; null for a temporary product"),
    categoryId: optionalTextField("Id of the category"),
    subCategoryId: optionalTextField("Id of the sub-category"),
    taxId: optionalTextField("Id of the tax in the catalogue"),
    priceId: optionalTextField("Id of the price in the catalogue"),
    pricingId: optionalTextField("Id of the price list"),
    operatorId: optionalTextField("Id of the clerk who took it"),
    deviceIdentifier: optionalTextField("Id of the device that it was taken on"),
    recordedAt: nullWhenAbsent(DateTime).meta({ description: "When it was taken" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({
      description: "When the row last changed; for a canceled row, when it was canceled",
    }),
    reclaimedAt: nullWhenAbsent(DateTime).meta({ description: "When the kitchen was asked for it again" }),
    transmittedAt: nullWhenAbsent(DateTime).meta({ description: "When it was sent to the kitchen" }),
    orderedAt: nullWhenAbsent(DateTime).meta({ description: "When it was ordered" }),
    taxName: optionalTextField("Name of the tax"),
    taxRate: vatPercentField(),
    taxAmount: amountField("VAT in the row's total"),
    taxableAmount: amountField("The row's total without VAT"),
    subCategoryName: optionalTextField("Name of the sub-category"),
    categoryName: optionalTextField("Name of the category"),
    categoryCatalogColor: nullWhenAbsent(z.enum(productCategoryColors)).meta({
      description: "Colour of the category in the catalogue",
    }),
    unitPriceRow: amountField("Price of one unit (of one kilogram when there is a weight)"),
    unitPriceRowWithModifier: amountField("Price of one unit with its modifiers"),
    totalRowWithModifier: amountField("Price of the row with its modifiers, before discounts"),
    totalDiscount: amountField("What discounts take off the row"),
    totalRow: amountField("Total of the row, VAT included"),
    quantity: signedUnitCountField("How many units; negative for a refund"),
    weight: nullWhenAbsent(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null when not sold by weight",
    }),
    pricingName: optionalTextField("Name of the price list"),
    pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({ description: "Which price list applied" }),
    deviceName: optionalTextField("Name of the device that it was taken on"),
    operatorName: optionalTextField("Name of the clerk who took it"),
    name: optionalTextField("Name of the product"),
    canceledReason: optionalTextField("Why it was canceled"),
    isTransferred: booleanField("Moved elsewhere: it does not count here"),
    transferredTo: optionalTextField("Where it was moved to"),
    comment: optionalLongTextField("Comment for the kitchen"),
    isMerged: booleanField("Whether it came from a merged order"),
    isCustomPrice: booleanField("Whether the clerk set the price"),
    validated: booleanField("Whether the clerk validated it"),
    isCanceled: booleanField("Canceled: it does not count"),
    currencyCode: optionalCurrencyField(),
    menuStepName: optionalTextField("Step of the menu that it is part of"),
    menuStepIndex: optionalIntegerField("Place of that step in the menu"),
    indexInPrepSequence: optionalIntegerField("Place in its preparation sequence"),
    preparationSequence: optionalIntegerField("Preparation sequence"),
    sku: optionalTextField("Stock keeping unit"),
    isLoss: z.boolean().default(false).meta({ description: "Lost (broken, spoiled): it does not count as a sale" }),
    lossReason: optionalTextField("Why it was lost"),
    menuRowId: optionalTextField("The menu row that it is part of"),
    modifierRowList: boundedArray(ModifierRow, 1_000).meta({ description: "Choices made for it" }),
    discountRowList: boundedArray(DiscountRow, 1_000).meta({ description: "Discounts on it" }),
  })
  .refine(
    ({ quantity, modifierRowList }) => modifierRowList.every(({ amount }) => isAmountInRange(amount * quantity)),
    {
      path: ["quantity"],
      error: "Must be so that the amount of a modifier times the quantity is an amount",
    },
  )
  .meta({ id: "ProductRowInput", description: "A product of an order", example: productRowExample });

export type ProductRow = z.infer<typeof ProductRow>;

/** One set menu of an order, with the products that it is made of. Its total is the sum of theirs. */
export const MenuRow = z
  .object({
    id: rowIdField("Id of the row"),
    recordedAt: nullWhenAbsent(DateTime).meta({ description: "When it was taken" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({ description: "When the row last changed" }),
    unitPriceRow: optionalAmountField("Price of the menu"),
    currencyCode: optionalCurrencyField(),
    amountToAdd: optionalAmountField("What the menu adds to the sum of its products' prices"),
    amountToSubtract: optionalAmountField("What the menu takes off the sum of its products' prices"),
    pricingId: optionalTextField("Id of the price list"),
    menuId: optionalTextField("Id of the menu in the catalogue"),
    pricingName: optionalTextField("Name of the price list"),
    pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({ description: "Which price list applied" }),
    name: optionalTextField("Name of the menu"),
    parentMenuRowId: optionalTextField(
      "For the child of a split bill: the row that it was split from. Such a row adds to sales, not to quantities",
    ),
    totalRow: amountField("Total of the menu, VAT included"),
    productRowList: boundedArray(ProductRow, 5_000).meta({ description: "The products that it is made of" }),
  })
  .meta({ id: "MenuRowInput", description: "A set menu of an order", example: menuRowExample });

export type MenuRow = z.infer<typeof MenuRow>;

/**
 * One payment, change, tip or account movement of an order. What decides where its money goes is required: id, moment,
 * amounts, status, type and mode.
 */
export const PaymentRow = z
  .object({
    id: rowIdField("Id of the row"),
    recordedAt: DateTime.meta({ description: "When it was taken" }),
    modifiedAt: nullWhenAbsent(DateTime).meta({ description: "When the row last changed" }),
    amount: amountField("Net of change, and without its tip"),
    changeAmount: amountField("Change given back"),
    changePaymentName: optionalTextField("Name of the payment method that the change was given in"),
    changePaymentMode: nullWhenAbsent(z.enum(paymentModes)).meta({
      description: "Mode of the payment method that the change was given in",
    }),
    lastProofOfPaymentAmount: optionalAmountField("Amount of the last proof of payment"),
    totalProofOfPaymentAmount: optionalAmountField("Amount of all proofs of payment"),
    status: z.enum(orderRowStatuses).meta({ description: "Only a validated payment counts" }),
    name: optionalTextField("Name of the payment method"),
    paymentType: z.enum(paymentTypes).meta({ description: "What kind of movement it is" }),
    paymentMode: z.enum(paymentModes).meta({ description: "How it was paid" }),
    paymentId: optionalTextField("Id of the payment method in the catalogue"),
    changePaymentId: optionalTextField("Id of the payment method that the change was given in"),
    tipAmount: optionalAmountField("Tip, on top of the amount"),
    externalServiceId: optionalTextField("Id in an external service"),
    currencyCode: optionalCurrencyField(),
    sellerCardReceipt: optionalLongTextField("The seller's card receipt"),
    buyerCardReceipt: optionalLongTextField("The buyer's card receipt"),
    firebaseCustomerRefKey: optionalTextField("Reference of the customer"),
    operatorId: optionalTextField("Id of the clerk who took it"),
    operatorName: optionalTextField("Name of the clerk who took it"),
    paymentProtocol: z
      .enum(paymentTerminalProtocols)
      .default("unknown")
      .meta({ description: "How the terminal was driven" }),
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
export function computeRowAmounts(row: Omit<ProductRow, Computed>): ProductRow {
  const { unitPriceRow, quantity, weight, taxRate } = row;
  const unitPriceRowWithModifier = row.modifierRowList.reduce(
    (sum, { amount }) => addAmounts(sum, amount),
    unitPriceRow,
  );
  const totalRowWithModifier =
    weight === null
      ? multiplyAmount(unitPriceRowWithModifier, quantity)
      : priceByWeight(unitPriceRowWithModifier, quantity, weight);
  const validated = row.discountRowList.filter(({ status }) => status === "validated");
  const totalDiscount = validated.reduce((sum, { amount }) => addAmounts(sum, amount), 0);
  const totalRow = addAmounts(totalRowWithModifier, -totalDiscount);
  const taxableAmount = amountWithoutTax(totalRow, taxRate);
  return {
    ...row,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: addAmounts(totalRow, -taxableAmount),
  };
}

/** Whether a row is a sale when its order is. */
export function isSoldRow(row: ProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

interface OrderRows {
  productRowList: readonly ProductRow[];
  menuRowList: readonly MenuRow[];
}

/** Returns all rows of an order, whatever became of them, in the till's order: those outside menus first. */
export function allProductRows({ productRowList, menuRowList }: OrderRows): ProductRow[] {
  return [...productRowList, ...menuRowList.flatMap((menuRow) => menuRow.productRowList)];
}
