import { z } from "zod";
import { RequestDateTime } from "./date-time.ts";
import {
  paymentAndDiscountRowStatuses,
  paymentModes,
  paymentRowTypes,
  paymentTerminalProtocols,
  priceListTypes,
  productCategoryColorNames,
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
import { addMoneyAmounts, amountWithoutTax, multiplyAmountOrThrow, priceByWeight } from "./money.ts";

/** The rows of an order: products, menus, modifiers, discounts and payments. */

/** A modifier option that was selected for a product, such as a topping. The product row's total includes it. */
export const ModifierRow = z
  .object({
    id: rowIdField("ID of the row"),
    recordedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the option was selected" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({ description: "Time of the last change to the row" }),
    amount: amountField("Price of the option for one unit of the product"),
    name: optionalTextField("Name of the modifier option"),
    modifierIndex: optionalIntegerField("Position of the option in its group"),
    modifierGroupName: optionalTextField("Name of the modifier group"),
    modifierGroupIndex: optionalIntegerField("Position of the modifier group"),
    modifierId: optionalTextField("Catalog ID of the modifier option"),
    modifierGroupId: optionalTextField("Catalog ID of the modifier group"),
  })
  .meta({
    id: "ModifierRowInput",
    description: "A modifier option selected for a product",
    example: modifierRowExample,
  });

export type ModifierRow = z.infer<typeof ModifierRow>;

/** A discount on a product. Rows with the same discountGroupId form one discount on several products. */
export const DiscountRow = z
  .object({
    id: rowIdField("ID of the row"),
    recordedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the discount was applied" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({ description: "Time of the last change to the row" }),
    amount: amountField("Amount deducted from the price of the product"),
    status: z
      .enum(paymentAndDiscountRowStatuses)
      .meta({ description: "Status of the discount. Only validated discounts are included in totals." }),
    splitAllowed: booleanField("Whether the discount can be split over several bills"),
    name: optionalTextField("Name of the discount"),
    discountId: optionalTextField("Catalog ID of the discount"),
    discountGroupId: optionalTextField("ID shared by the rows of one discount on several products"),
    extQoodosCheckInId: optionalTextField(
      "ID of the check-in in the loyalty service Qoodos for which the discount was granted",
    ),
  })
  .meta({ id: "DiscountRowInput", description: "A discount on a product", example: discountRowExample });

export type DiscountRow = z.infer<typeof DiscountRow>;

/**
 * A product of an order. Fields that affect figures are required: id, quantity, amounts, VAT rate, flags, and the lists
 * of modifiers and discounts. `isLoss` is optional, and false by default.
 */
export const ProductRow = z
  .object({
    id: rowIdField("ID of the row"),
    parentProductRowId: optionalTextField(
      "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row. Child rows count toward sales but not toward quantities.",
    ),
    productId: optionalTextField(
      "Catalog ID of the product; null for a temporary product, which is not in the catalog",
    ),
    categoryId: optionalTextField("ID of the category"),
    subCategoryId: optionalTextField("ID of the subcategory"),
    taxId: optionalTextField("Catalog ID of the tax"),
    priceId: optionalTextField("Catalog ID of the price"),
    pricingId: optionalTextField("ID of the price list"),
    operatorId: optionalTextField("ID of the clerk who recorded the row"),
    deviceIdentifier: optionalTextField("ID of the device on which the row was recorded"),
    recordedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the row was recorded" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({
      description: "Time of the last change to the row; for a canceled row, the time of the cancellation",
    }),
    reclaimedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the product was requested again" }),
    transmittedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the product was sent to the kitchen" }),
    orderedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the product was ordered" }),
    taxName: optionalTextField("Name of the tax"),
    taxRate: vatPercentField(),
    taxAmount: amountField("VAT included in the row's total"),
    taxableAmount: amountField("Total of the row excluding VAT"),
    subCategoryName: optionalTextField("Name of the subcategory"),
    categoryName: optionalTextField("Name of the category"),
    categoryCatalogColor: nullWhenAbsent(z.enum(productCategoryColorNames)).meta({
      description: "Color of the category",
    }),
    unitPriceRow: amountField("Price of one unit, or of one kilogram if `weight` is set"),
    unitPriceRowWithModifier: amountField(
      "Price of one unit, or of one kilogram if `weight` is set, with its modifiers",
    ),
    totalRowWithModifier: amountField("Price of the row with its modifiers, before discounts"),
    totalDiscount: amountField("Sum of discounts on the row"),
    totalRow: amountField("Total of the row including VAT"),
    quantity: signedUnitCountField("Number of units; negative for a refund"),
    weight: nullWhenAbsent(z.number().min(0).max(1_000_000)).meta({
      description: "Weight of one unit in kilograms; null for a product that is not sold by weight",
    }),
    pricingName: optionalTextField("Name of the price list"),
    pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({ description: "Type of price list that applied" }),
    deviceName: optionalTextField("Name of the device on which the row was recorded"),
    operatorName: optionalTextField("Name of the clerk who recorded the row"),
    name: optionalTextField("Name of the product"),
    canceledReason: optionalTextField("Reason for the cancellation"),
    isTransferred: booleanField(
      "Whether the product was transferred, for example to another order. Transferred products are excluded from totals.",
    ),
    transferredTo: optionalTextField("Destination of the transfer"),
    comment: optionalLongTextField("Comment for the kitchen"),
    isMerged: booleanField("Whether the row came from a merged order"),
    isCustomPrice: booleanField("Whether the clerk set the price manually"),
    validated: booleanField("Whether the clerk validated the row"),
    isCanceled: booleanField("Whether the product was canceled. Canceled products are excluded from totals."),
    currencyCode: optionalCurrencyField(),
    menuStepName: optionalTextField("Name of the menu step that the product belongs to"),
    menuStepIndex: optionalIntegerField("Position of the step in the menu"),
    indexInPrepSequence: optionalIntegerField("Position in the preparation sequence"),
    preparationSequence: optionalIntegerField("Number of the preparation sequence"),
    sku: optionalTextField("Stock keeping unit (SKU) of the product"),
    isLoss: z.boolean().default(false).meta({
      description: "Whether the product was lost, for example broken or spoiled. Lost products do not count as sales.",
    }),
    lossReason: optionalTextField("Reason for the loss"),
    menuRowId: optionalTextField("ID of the menu row that contains the product"),
    modifierRowList: boundedArray(ModifierRow, 1_000).meta({ description: "Selected modifier options" }),
    discountRowList: boundedArray(DiscountRow, 1_000).meta({ description: "Discounts on the product" }),
  })
  .refine(
    ({ quantity, modifierRowList }) => modifierRowList.every(({ amount }) => isAmountInRange(amount * quantity)),
    {
      path: ["quantity"],
      error: "Must not exceed 100,000,000,000 when multiplied by the amount of a modifier",
    },
  )
  .meta({ id: "ProductRowInput", description: "A product in an order", example: productRowExample });

export type ProductRow = z.infer<typeof ProductRow>;

/** A set menu of an order with its products. The total of the menu is the sum of the totals of its products. */
export const MenuRow = z
  .object({
    id: rowIdField("ID of the row"),
    recordedAt: nullWhenAbsent(RequestDateTime).meta({ description: "When the row was recorded" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({ description: "Time of the last change to the row" }),
    unitPriceRow: optionalAmountField("Price of the menu"),
    currencyCode: optionalCurrencyField(),
    amountToAdd: optionalAmountField("Amount that the menu adds to the sum of its products' prices"),
    amountToSubtract: optionalAmountField("Amount that the menu deducts from the sum of its products' prices"),
    pricingId: optionalTextField("ID of the price list"),
    menuId: optionalTextField("Catalog ID of the menu"),
    pricingName: optionalTextField("Name of the price list"),
    pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({ description: "Type of price list that applied" }),
    name: optionalTextField("Name of the menu"),
    parentMenuRowId: optionalTextField(
      "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row. Child rows count toward sales but not toward quantities.",
    ),
    totalRow: amountField("Total of the menu including VAT"),
    productRowList: boundedArray(ProductRow, 5_000).meta({ description: "Products in the menu" }),
  })
  .meta({ id: "MenuRowInput", description: "A set menu in an order", example: menuRowExample });

export type MenuRow = z.infer<typeof MenuRow>;

/**
 * A payment, change, tip or customer account movement of an order. The id and the fields that affect figures are
 * required: time, amounts, status, type and mode.
 */
export const PaymentRow = z
  .object({
    id: rowIdField("ID of the row"),
    recordedAt: RequestDateTime.meta({ description: "When the row was recorded" }),
    modifiedAt: nullWhenAbsent(RequestDateTime).meta({ description: "Time of the last change to the row" }),
    amount: amountField("Amount paid, net of change and excluding the tip"),
    changeAmount: amountField("Change given"),
    changePaymentName: optionalTextField("Name of the payment method with which change was given"),
    changePaymentMode: nullWhenAbsent(z.enum(paymentModes)).meta({
      description: "Payment mode with which change was given",
    }),
    lastProofOfPaymentAmount: optionalAmountField("Amount of the last proof of payment"),
    totalProofOfPaymentAmount: optionalAmountField("Amount of all proofs of payment"),
    status: z
      .enum(paymentAndDiscountRowStatuses)
      .meta({ description: "Status of the payment. Only validated payments are included in totals." }),
    name: optionalTextField("Name of the payment method"),
    paymentType: z.enum(paymentRowTypes).meta({ description: "Type of the row, such as payment, change or tip" }),
    paymentMode: z.enum(paymentModes).meta({ description: "Payment mode, such as cash or card" }),
    paymentId: optionalTextField("Catalog ID of the payment method"),
    changePaymentId: optionalTextField("ID of the payment method with which change was given"),
    tipAmount: optionalAmountField("Tip, in addition to `amount`"),
    externalServiceId: optionalTextField("ID of the payment in an external service"),
    currencyCode: optionalCurrencyField(),
    sellerCardReceipt: optionalLongTextField("Merchant copy of the card receipt"),
    buyerCardReceipt: optionalLongTextField("Customer copy of the card receipt"),
    firebaseCustomerRefKey: optionalTextField("ID of the customer; null if the customer is anonymous"),
    operatorId: optionalTextField("ID of the clerk who recorded the payment"),
    operatorName: optionalTextField("Name of the clerk who recorded the payment"),
    paymentProtocol: z
      .enum(paymentTerminalProtocols)
      .default("unknown")
      .meta({ description: "Protocol of the payment terminal" }),
  })
  .meta({ id: "PaymentRowInput", description: "A payment for an order", example: paymentRowExample });

export type PaymentRow = z.infer<typeof PaymentRow>;

/** The amounts of a product row that are computed from its other fields. */
type Computed =
  | "unitPriceRowWithModifier"
  | "totalRowWithModifier"
  | "totalDiscount"
  | "totalRow"
  | "taxableAmount"
  | "taxAmount";

/** Returns the row with the amounts computed from its price, quantity, weight, modifiers, discounts and tax rate. */
export function computeProductRowAmounts(row: Omit<ProductRow, Computed>): ProductRow {
  const { unitPriceRow, quantity, weight, taxRate } = row;
  const unitPriceRowWithModifier = row.modifierRowList.reduce(
    (sum, { amount }) => addMoneyAmounts(sum, amount),
    unitPriceRow,
  );
  const totalRowWithModifier =
    weight === null
      ? multiplyAmountOrThrow(unitPriceRowWithModifier, quantity)
      : priceByWeight(unitPriceRowWithModifier, quantity, weight);
  const validated = row.discountRowList.filter(({ status }) => status === "validated");
  const totalDiscount = validated.reduce((sum, { amount }) => addMoneyAmounts(sum, amount), 0);
  const totalRow = addMoneyAmounts(totalRowWithModifier, -totalDiscount);
  const taxableAmount = amountWithoutTax(totalRow, taxRate);
  return {
    ...row,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: addMoneyAmounts(totalRow, -taxableAmount),
  };
}

/** Returns whether a product row counts as a sale. Does not check whether its order counts as a sale. */
export function isSoldProductRow(row: ProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

interface OrderRows {
  productRowList: readonly ProductRow[];
  menuRowList: readonly MenuRow[];
}

/** Returns all product rows of an order, including canceled rows: first the rows outside menus, then those in menus. */
export function listOrderProductRows({ productRowList, menuRowList }: OrderRows): ProductRow[] {
  return [...productRowList, ...menuRowList.flatMap((menuRow) => menuRow.productRowList)];
}
