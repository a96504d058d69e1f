import { defaultsOf } from "@pragma/contracts/fields";
import { plus, priceByWeight, taxable, times } from "@pragma/contracts/money";
import { DiscountRow, ModifierRow, ProductRow } from "@pragma/contracts/order-rows";
import type { ItemV1 } from "@pragma/contracts/ticket-v1";
import type { ToInstant } from "./in-time-zone.ts";

const productDefaults = defaultsOf(ProductRow.shape);
const modifierDefaults = defaultsOf(ModifierRow.shape);
const discountDefaults = defaultsOf(DiscountRow.shape);

/**
 * A product row from an item of the older format, which carries a unit price, a VAT rate, options and discounts: the
 * row's totals and VAT follow from these.
 */
export function productRow(item: ItemV1, menuRowId: string | null, toInstant: ToInstant): ProductRow {
  const createdAt = toInstant(item.creation_date);
  return {
    ...productDefaults,
    id: item.client_id,
    parentProductRowId: item.parent_id,
    productId: item.item_client_id,
    recordedAt: createdAt,
    modifiedAt: createdAt,
    orderedAt: toInstant(item.ordered_date),
    taxName: item.price.tax_name,
    taxRate: item.price.tax,
    ...totals(item),
    subCategoryName: item.category,
    categoryName: item.parent_category,
    quantity: item.quantity,
    weight: item.weight,
    pricingName: item.price.tier,
    operatorName: item.waiter,
    name: item.name,
    canceledReason: item.motif,
    isTransferred: item.transferred,
    isMerged: false,
    isCustomPrice: false,
    validated: true,
    isCanceled: item.cancelled,
    currencyCode: item.price.currency,
    menuStepName: item.step,
    menuStepIndex: item.step_index,
    sku: item.sku,
    isLoss: item.is_loss,
    lossReason: item.loss_reason,
    menuRowId,
    modifierRowList: item.options.map((option, index) => ({
      ...modifierDefaults,
      id: `${item.client_id}#${index}`,
      recordedAt: createdAt,
      modifiedAt: createdAt,
      amount: option.price,
      name: option.name,
      modifierGroupName: option.group_name,
      modifierId: option.client_id,
      modifierGroupId: option.group_id,
    })),
    discountRowList: item.discounts.map((discount, index) => ({
      ...discountDefaults,
      id: `${item.client_id}#${index}`,
      recordedAt: createdAt,
      modifiedAt: createdAt,
      amount: discount.amount,
      status: "validated",
      splitAllowed: false,
      name: discount.name,
      discountId: discount.client_id,
    })),
  };
}

function totals({ price, options, discounts, quantity, weight }: ItemV1) {
  const unitPriceRow = price.amount;
  const unitPriceRowWithModifier = options.reduce((sum, option) => plus(sum, option.price), unitPriceRow);
  const totalRowWithModifier =
    weight === null
      ? times(unitPriceRowWithModifier, quantity)
      : priceByWeight(unitPriceRowWithModifier, quantity, weight);
  const totalDiscount = discounts.reduce((sum, discount) => plus(sum, discount.amount), 0);
  const totalRow = plus(totalRowWithModifier, -totalDiscount);
  const taxableAmount = taxable(totalRow, price.tax);
  return {
    unitPriceRow,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: plus(totalRow, -taxableAmount),
  };
}
