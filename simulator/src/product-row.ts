import type { ModifierRow } from "@pragma/contracts/modifier-row";
import { priceByWeight, taxable } from "@pragma/contracts/money";
import type { ProductRow } from "@pragma/contracts/product-row";
import type { OrderSetting } from "./order-setting.ts";
import type { Modifier, ModifierGroup, Product } from "./restaurant.ts";

interface ProductLine {
  product: Product;
  /** 1 unless given; negative when it is taken back. */
  quantity?: number;
  /** For what is sold by weight. */
  grams?: number;
  modifiers?: readonly { group: ModifierGroup; modifier: Modifier }[];
  /** For what is sold in a menu: its share of the menu's price, and where it stands. */
  inMenu?: { rowId: string; unitPrice: number; stepName: string; stepIndex: number };
}

/** The row of a product, with all its amounts. */
export function productRow(setting: OrderSetting, line: ProductLine): ProductRow {
  const { product, inMenu } = line;
  const { random, room, operator, times } = setting;
  const { device } = setting.restaurant;
  const orderedAt = times.at(random.integer(0, 50) / 100);
  return priced({
    id: random.uuid(),
    parentProductRowId: null,
    productId: product.id,
    categoryId: product.categoryId,
    subCategoryId: product.subCategoryId,
    taxId: product.tax.id,
    priceId: null,
    pricingId: room.pricing.id,
    operatorId: operator.id,
    deviceIdentifier: device.id,
    recordedAt: orderedAt,
    modifiedAt: orderedAt,
    reclaimedAt: null,
    transmittedAt: product.course === "shop" ? null : orderedAt,
    orderedAt,
    taxName: product.tax.name,
    taxRate: product.tax.rate,
    taxAmount: 0,
    taxableAmount: 0,
    subCategoryName: product.subCategory,
    categoryName: product.category,
    categoryCatalogColor: product.color,
    unitPriceRow: inMenu?.unitPrice ?? product.price,
    unitPriceRowWithModifier: 0,
    totalRowWithModifier: 0,
    totalDiscount: 0,
    totalRow: 0,
    quantity: line.quantity ?? 1,
    weight: line.grams === undefined ? null : line.grams / 1000,
    pricingName: room.pricing.name,
    pricingType: room.pricing.type,
    deviceName: device.name,
    operatorName: operator.name,
    name: product.name,
    canceledReason: null,
    isTransferred: false,
    transferredTo: null,
    comment: null,
    isMerged: false,
    isCustomPrice: false,
    validated: true,
    isCanceled: false,
    currencyCode: "EUR",
    menuStepName: inMenu?.stepName ?? null,
    menuStepIndex: inMenu?.stepIndex ?? null,
    indexInPrepSequence: 0,
    preparationSequence: 0,
    sku: product.sku,
    isLoss: false,
    lossReason: null,
    menuRowId: inMenu?.rowId ?? null,
    modifierRowList: (line.modifiers ?? []).map(({ group, modifier }) =>
      modifierRow(random.uuid(), orderedAt, group, modifier),
    ),
    discountRowList: [],
  });
}

/** The row with every amount that follows from its unit price, quantity, weight, modifiers, discounts and rate. */
export function priced(row: ProductRow): ProductRow {
  const unitPriceRowWithModifier = row.unitPriceRow + sumOf(row.modifierRowList, "amount");
  const totalRowWithModifier = priceByWeight(unitPriceRowWithModifier, row.quantity, row.weight ?? 1);
  const validatedDiscounts = row.discountRowList.filter(({ status }) => status === "validated");
  const totalDiscount = sumOf(validatedDiscounts, "amount");
  const totalRow = totalRowWithModifier - totalDiscount;
  const taxableAmount = taxable(totalRow, row.taxRate);
  return {
    ...row,
    unitPriceRowWithModifier,
    totalRowWithModifier,
    totalDiscount,
    totalRow,
    taxableAmount,
    taxAmount: totalRow - taxableAmount,
  };
}

/** Whether the row adds to its order's total. */
export function counts(row: ProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

/** Adds up one amount of each row. */
export function sumOf<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}

function modifierRow(id: string, at: string, group: ModifierGroup, modifier: Modifier): ModifierRow {
  return {
    id,
    recordedAt: at,
    modifiedAt: at,
    amount: modifier.amount,
    name: modifier.name,
    modifierIndex: modifier.index,
    modifierGroupName: group.name,
    modifierGroupIndex: group.index,
    modifierId: modifier.id,
    modifierGroupId: group.id,
  };
}
