import { object, z } from "zod";
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
import { boundedArray, field, isAmountInRange, nullWhenAbsent } from "./fields.ts";
import { addMoneyAmounts, computeAmountWithoutTax, computePriceByWeight, multiplyAmountOrThrow } from "./money.ts";

/** A modifier option that was selected for a product, such as a topping. The product row's total includes it. */
export const PosOrderModifierRow = object({
  id: field.orderRowId("ID of the row"),
  recordedAt: field.optionalDateTime("When the option was selected"),
  modifiedAt: field.optionalDateTime("Time of the last change to the row"),
  amount: field.amount("Price of the option for one unit of the product, including VAT"),
  name: field.optionalText("Name of the modifier option"),
  modifierIndex: field.optionalInteger("Position of the option in its group"),
  modifierGroupName: field.optionalText("Name of the modifier group"),
  modifierGroupIndex: field.optionalInteger("Position of the modifier group among the modifier groups of the product"),
  modifierId: field.optionalText("Catalog ID of the modifier option"),
  modifierGroupId: field.optionalText("Catalog ID of the modifier group"),
}).meta({
  id: "ModifierRowInput",
  description: "A modifier option selected for a product",
  example: modifierRowExample,
});

export type PosOrderModifierRow = z.infer<typeof PosOrderModifierRow>;

/** A discount on a product. Rows with the same discountGroupId form one discount on several products. */
export const PosOrderDiscountRow = object({
  id: field.orderRowId("ID of the row"),
  recordedAt: field.optionalDateTime("When the discount was applied"),
  modifiedAt: field.optionalDateTime("Time of the last change to the row"),
  amount: field.amount("Amount deducted from the price of the product"),
  status: z
    .enum(paymentAndDiscountRowStatuses)
    .describe("Status of the discount. Totals include only discounts with the status `validated`."),
  splitAllowed: field.boolean("Whether the discount can be split across several bills"),
  name: field.optionalText("Name of the discount"),
  discountId: field.optionalText(
    "ID of the discount in the point of sale. The catalog of the API does not contain discounts.",
  ),
  discountGroupId: field.optionalText("ID shared by the rows of a discount that applies to several products"),
  extQoodosCheckInId: field.optionalText(
    "ID of the check-in with the loyalty service Qoodos for which the discount was granted",
  ),
}).meta({ id: "DiscountRowInput", description: "A discount on a product", example: discountRowExample });

export type PosOrderDiscountRow = z.infer<typeof PosOrderDiscountRow>;

/**
 * A product of an order. Fields that affect figures are required: id, quantity, amounts, VAT rate, flags, and the lists
 * of modifiers and discounts. `isLoss` is optional, and false by default.
 */
export const PosOrderProductRow = object({
  id: field.orderRowId("ID of the row"),
  parentProductRowId: field.optionalText(
    "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row. Child rows count toward sales but not toward quantities.",
  ),
  productId: field.optionalText("Catalog ID of the product; null for a temporary product, which is not in the catalog"),
  categoryId: field.optionalText("ID of the category"),
  subCategoryId: field.optionalText("ID of the subcategory"),
  taxId: field.optionalText("Catalog ID of the tax"),
  priceId: field.optionalText("ID of the price in the catalog of the point of sale"),
  pricingId: field.optionalText("ID of the price list from which the price was taken"),
  operatorId: field.optionalText("ID of the clerk who recorded the row"),
  deviceIdentifier: field.optionalText("ID of the device on which the row was recorded"),
  recordedAt: field.optionalDateTime("When the row was recorded"),
  modifiedAt: field.optionalDateTime(
    "Time of the last change to the row; for a canceled row, the time of the cancellation",
  ),
  reclaimedAt: field.optionalDateTime(
    "When a clerk reclaimed the product, that is, asked the kitchen to prepare it now; null if the product was not reclaimed",
  ),
  transmittedAt: field.optionalDateTime("When the product was sent to the kitchen; null if it was not sent"),
  orderedAt: field.optionalDateTime("When the product was ordered"),
  taxName: field.optionalText("Name of the tax"),
  taxRate: field.vatPercent(),
  taxAmount: field.amount("VAT included in the row's total"),
  taxableAmount: field.amount("Total of the row excluding VAT"),
  subCategoryName: field.optionalText("Name of the subcategory"),
  categoryName: field.optionalText("Name of the category"),
  categoryCatalogColor: nullWhenAbsent(z.enum(productCategoryColorNames)).meta({
    description: "Name of the color that marks the category at the point of sale",
  }),
  unitPriceRow: field.amount("Price of one unit, or of one kilogram if `weight` is set, excluding modifiers"),
  unitPriceRowWithModifier: field.amount(
    "Price of one unit, or of one kilogram if `weight` is set, including modifiers",
  ),
  totalRowWithModifier: field.amount("Total of the row including modifiers, before discounts"),
  totalDiscount: field.amount("Sum of the validated discounts on the row"),
  totalRow: field.amount("Total of the row after discounts, including VAT"),
  quantity: field.signedUnitCount("Number of units; negative for a refund"),
  weight: nullWhenAbsent(z.number().min(0).max(1_000_000)).meta({
    description: "Weight of one unit in kilograms; null for a product that is not sold by weight",
  }),
  pricingName: field.optionalText("Name of the price list from which the price was taken"),
  pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({
    description: "Type of the price list from which the price was taken, such as `normal` or `happyHour`",
  }),
  deviceName: field.optionalText("Name of the device on which the row was recorded"),
  operatorName: field.optionalText("Name of the clerk who recorded the row"),
  name: field.optionalText("Name of the product"),
  canceledReason: field.optionalText(
    "Reason why the product was canceled; null if it was not canceled or no reason was given",
  ),
  isTransferred: field.boolean(
    "Whether the product was transferred, for example to another order. Transferred products are excluded from totals.",
  ),
  transferredTo: field.optionalText("Destination of the transfer; null if the product was not transferred"),
  comment: field.optionalLongText("Comment for the kitchen; null if there is none"),
  isMerged: field.boolean("Whether the row came from a merged order"),
  isCustomPrice: field.boolean("Whether the clerk entered the price manually"),
  validated: field.boolean("Whether the clerk confirmed the product. Does not affect totals or reports."),
  isCanceled: field.boolean("Whether the product was canceled. Canceled products are excluded from totals."),
  currencyCode: field.optionalCurrency(),
  menuStepName: field.optionalText(
    "Name of the menu step (course) that the product belongs to; null if the product is not part of a set menu",
  ),
  menuStepIndex: field.optionalInteger(
    "Position of the menu step in the set menu; null if the product is not part of a set menu",
  ),
  indexInPrepSequence: field.optionalInteger("Position of the product in its preparation sequence"),
  preparationSequence: field.optionalInteger(
    "Number of the preparation sequence, which determines when the kitchen prepares the product",
  ),
  sku: field.optionalText("Stock keeping unit (SKU) of the product"),
  isLoss: field.falseByDefault(
    "Whether the product was lost, for example broken or spoiled. Lost products do not count as sales.",
  ),
  lossReason: field.optionalText("Reason why the product was lost; null if it was not lost or no reason was given"),
  menuRowId: field.optionalText(
    "ID of the menu row that contains the product; null if the product is not part of a set menu",
  ),
  modifierRowList: boundedArray(PosOrderModifierRow, 1_000).describe("Selected modifier options"),
  discountRowList: boundedArray(PosOrderDiscountRow, 1_000).describe("Discounts on the product"),
})
  .refine(
    ({ quantity, modifierRowList }) => modifierRowList.every(({ amount }) => isAmountInRange(amount * quantity)),
    {
      path: ["quantity"],
      error: "Must not exceed 100,000,000,000 when multiplied by the amount of a modifier",
    },
  )
  .meta({ id: "ProductRowInput", description: "A product in an order", example: productRowExample });

export type PosOrderProductRow = z.infer<typeof PosOrderProductRow>;

/** A set menu of an order with its products. The total of the menu is the sum of the totals of its products. */
export const PosOrderMenuRow = object({
  id: field.orderRowId("ID of the row"),
  recordedAt: field.optionalDateTime("When the row was recorded"),
  modifiedAt: field.optionalDateTime("Time of the last change to the row"),
  unitPriceRow: field.optionalAmount("Price of one set menu"),
  currencyCode: field.optionalCurrency(),
  amountToAdd: field.optionalAmount(
    "Amount by which the menu costs more than its products separately. `totalRow` already includes it.",
  ),
  amountToSubtract: field.optionalAmount(
    "Amount by which the menu costs less than its products separately. `totalRow` already reflects it.",
  ),
  pricingId: field.optionalText("ID of the price list from which the price was taken"),
  menuId: field.optionalText(
    "ID of the set menu in the point of sale. The catalog of the API does not contain set menus.",
  ),
  pricingName: field.optionalText("Name of the price list from which the price was taken"),
  pricingType: nullWhenAbsent(z.enum(priceListTypes)).meta({
    description: "Type of the price list from which the price was taken, such as `normal` or `happyHour`",
  }),
  name: field.optionalText("Name of the menu"),
  parentMenuRowId: field.optionalText(
    "For a child row of a split bill, the ID of the row from which the child row was split; null for any other row. Child rows count toward sales but not toward quantities.",
  ),
  totalRow: field.amount("Total of the menu including VAT"),
  productRowList: boundedArray(PosOrderProductRow, 5_000).describe("Products in the menu"),
}).meta({ id: "MenuRowInput", description: "A set menu in an order", example: menuRowExample });

export type PosOrderMenuRow = z.infer<typeof PosOrderMenuRow>;

/**
 * A payment, change, tip or customer account movement of an order. The id and the fields that affect figures are
 * required: time, amounts, status, type and mode.
 */
export const PosOrderPaymentRow = object({
  id: field.orderRowId("ID of the row"),
  recordedAt: RequestDateTime.describe("When the row was recorded"),
  modifiedAt: field.optionalDateTime("Time of the last change to the row"),
  amount: field.amount("Amount paid, net of change and excluding the tip in `tipAmount`"),
  changeAmount: field.amount("Change that the customer received"),
  changePaymentName: field.optionalText("Name of the payment method with which change was given"),
  changePaymentMode: nullWhenAbsent(z.enum(paymentModes)).describe(
    "Payment mode with which change was given; null if it was the mode of the payment. Change in cash on a payment by another mode reduces the expected cash.",
  ),
  lastProofOfPaymentAmount: field.optionalAmount("Amount on the most recently printed proof of payment"),
  totalProofOfPaymentAmount: field.optionalAmount("Sum of the amounts on all printed proofs of payment"),
  status: z
    .enum(paymentAndDiscountRowStatuses)
    .describe("Status of the payment. Totals include only payments with the status `validated`."),
  name: field.optionalText("Name of the payment method"),
  paymentType: z.enum(paymentRowTypes).meta({
    description:
      "Type of the row. `payment`: payment for the order. `customerAccount`: amount charged to a customer account. `tip`: tip that was recorded separately. `change`: change that was recorded separately. `discount`: discount that was recorded as a payment.",
  }),
  paymentMode: z.enum(paymentModes).describe("Payment mode, such as cash or card"),
  paymentId: field.optionalText("Catalog ID of the payment method"),
  changePaymentId: field.optionalText("Catalog ID of the payment method with which change was given"),
  tipAmount: field.optionalAmount("Tip, in addition to `amount`"),
  externalServiceId: field.optionalText("ID of the payment in an external service"),
  currencyCode: field.optionalCurrency(),
  sellerCardReceipt: field.optionalLongText("Merchant copy of the card receipt"),
  buyerCardReceipt: field.optionalLongText("Customer copy of the card receipt"),
  firebaseCustomerRefKey: field.optionalText(
    "ID of the customer in the point of sale's cloud database; null if the customer is anonymous",
  ),
  operatorId: field.optionalText("ID of the clerk who recorded the payment"),
  operatorName: field.optionalText("Name of the clerk who recorded the payment"),
  paymentProtocol: z.enum(paymentTerminalProtocols).default("unknown").meta({
    description:
      "Protocol between the point of sale and the payment terminal; `unknown` if the point of sale sent none",
  }),
}).meta({
  id: "PaymentRowInput",
  description: "A payment for an order, or a related amount such as a tip or change",
  example: paymentRowExample,
});

export type PosOrderPaymentRow = z.infer<typeof PosOrderPaymentRow>;

/** The amounts of a product row that are computed from its other fields. */
type Computed =
  | "unitPriceRowWithModifier"
  | "totalRowWithModifier"
  | "totalDiscount"
  | "totalRow"
  | "taxableAmount"
  | "taxAmount";

/** Returns the row with the amounts computed from its price, quantity, weight, modifiers, discounts and tax rate. */
export function computeProductRowAmounts(row: Omit<PosOrderProductRow, Computed>): PosOrderProductRow {
  const { unitPriceRow, quantity, weight, taxRate } = row;
  const unitPriceRowWithModifier = row.modifierRowList.reduce(
    (sum, { amount }) => addMoneyAmounts(sum, amount),
    unitPriceRow,
  );
  const totalRowWithModifier =
    weight === null
      ? multiplyAmountOrThrow(unitPriceRowWithModifier, quantity)
      : computePriceByWeight(unitPriceRowWithModifier, quantity, weight);
  const validated = row.discountRowList.filter(({ status }) => status === "validated");
  const totalDiscount = validated.reduce((sum, { amount }) => addMoneyAmounts(sum, amount), 0);
  const totalRow = addMoneyAmounts(totalRowWithModifier, -totalDiscount);
  const taxableAmount = computeAmountWithoutTax(totalRow, taxRate);
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

export { flattenOrderProductRows, isRowCountedAsSale } from "./order-row-rules.ts";
