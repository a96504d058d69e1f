import { fieldDefaultsOf } from "@pragma/contracts/fields";
import { divideRoundingHalfAway } from "@pragma/contracts/money";
import {
  allProductRows,
  computeRowAmounts,
  DiscountRow,
  isSoldRow,
  type MenuRow,
  ProductRow,
} from "@pragma/contracts/order-rows";
import type { Random } from "./random.ts";
import type { Clerk, Discount, Modifier, ModifierGroup, Product, Restaurant, Room } from "./restaurant.ts";
import { type OrderTimes, stayMoments } from "./service-day.ts";

/** Where, when and by whom an order is taken: what each of its rows is made with. */
export interface OrderRowContext {
  readonly random: Random;
  readonly restaurant: Restaurant;
  readonly room: Room;
  readonly operator: Clerk;
  readonly times: OrderTimes;
}

/** What has been ordered. */
export interface OrderRows {
  readonly productRowList: readonly ProductRow[];
  readonly menuRowList: readonly MenuRow[];
}

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

const rowDefaults = fieldDefaultsOf(ProductRow.shape);
const discountDefaults = fieldDefaultsOf(DiscountRow.shape);

/** The row of a product, with all its amounts. */
export function createProductRow(setting: OrderRowContext, line: ProductLine): ProductRow {
  const { product, inMenu } = line;
  const { random, room, operator } = setting;
  const { device } = setting.restaurant;
  const { orderedAt, reclaimedAt, sequence } = computeServingTimes(setting, line);
  return computeRowAmounts({
    ...rowDefaults,
    id: random.uuid(),
    productId: product.id,
    categoryId: product.categoryId,
    subCategoryId: product.subCategoryId,
    taxId: product.tax.id,
    pricingId: room.pricing.id,
    operatorId: operator.id,
    deviceIdentifier: device.id,
    recordedAt: orderedAt,
    modifiedAt: reclaimedAt ?? orderedAt,
    reclaimedAt,
    transmittedAt: product.course === "shop" ? null : orderedAt,
    orderedAt,
    taxName: product.tax.name,
    taxRate: product.tax.rate,
    subCategoryName: product.subCategory,
    categoryName: product.category,
    categoryCatalogColor: product.color,
    unitPriceRow: inMenu?.unitPrice ?? product.price,
    quantity: line.quantity ?? 1,
    weight: line.grams === undefined ? null : line.grams / 1000,
    pricingName: room.pricing.name,
    pricingType: room.pricing.type,
    deviceName: device.name,
    operatorName: operator.name,
    name: product.name,
    isTransferred: false,
    isMerged: false,
    isCustomPrice: false,
    validated: true,
    isCanceled: false,
    currencyCode: "EUR",
    menuStepName: inMenu?.stepName ?? null,
    menuStepIndex: inMenu?.stepIndex ?? null,
    indexInPrepSequence: 0,
    preparationSequence: sequence,
    sku: product.sku,
    menuRowId: inMenu?.rowId ?? null,
    modifierRowList: (line.modifiers ?? []).map(({ group, modifier }) => ({
      id: random.uuid(),
      recordedAt: orderedAt,
      modifiedAt: orderedAt,
      amount: modifier.amount,
      name: modifier.name,
      modifierIndex: modifier.index,
      modifierGroupName: group.name,
      modifierGroupIndex: group.index,
      modifierId: modifier.id,
      modifierGroupId: group.id,
    })),
    discountRowList: [],
  });
}

/**
 * When a product is ordered, when the kitchen is called for it (null: it is made at once), and which course it is of
 * those ordered together. Guests who sit down have a drink first, then order their courses, of which the kitchen is
 * called for the later ones, and desserts at the end; some have another drink. Whoever fetches an order, or has it sent,
 * orders everything at once.
 */
function computeServingTimes({ random, room, times }: OrderRowContext, { product: { course }, inMenu }: ProductLine) {
  const isAnother = random.chance(0.35);
  const isServed = room.type !== "takeOut" && room.type !== "extOrder";
  let share: number = isServed ? stayMoments.courses : stayMoments.firstRound;
  if (isServed && !inMenu && course === "drink") share = isAnother ? stayMoments.anotherRound : stayMoments.firstRound;
  if (isServed && !inMenu && course === "dessert") share = stayMoments.desserts;
  const sequence = isServed ? (inMenu?.stepIndex ?? Number(course === "main")) : 0;
  const call = kitchenCallShares[sequence];
  return { orderedAt: times.at(share), reclaimedAt: call === undefined ? null : times.at(call), sequence };
}

/** The shares of a stay at which the kitchen is called for a course; the first is made at once. */
const kitchenCallShares: readonly (number | undefined)[] = [undefined, 0.2, 0.42];

/**
 * The row with one more discount, and the amounts that follow. The rows of one discount over several products share a
 * group; a discount that is not validated takes nothing off.
 */
export function applyDiscount(
  { random, times }: Pick<OrderRowContext, "random" | "times">,
  row: ProductRow,
  { id, name, percent }: Discount,
  { groupId, status = "validated" }: { groupId?: string; status?: DiscountRow["status"] } = {},
): ProductRow {
  const givenAt = times.at(stayMoments.discount);
  const discountRow: DiscountRow = {
    ...discountDefaults,
    id: random.uuid(),
    recordedAt: givenAt,
    modifiedAt: givenAt,
    amount: divideRoundingHalfAway(row.totalRowWithModifier * percent, 100),
    status,
    splitAllowed: true,
    name,
    discountId: id,
    discountGroupId: groupId ?? null,
  };
  const modifiedAt = row.modifiedAt === null || row.modifiedAt < givenAt ? givenAt : row.modifiedAt;
  return computeRowAmounts({ ...row, modifiedAt, discountRowList: [...row.discountRowList, discountRow] });
}

/** Adds up one amount of each row. */
export function sumField<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name): number {
  return rows.reduce((sum, row) => sum + row[name], 0);
}

/** The totals of an order with these rows: those of the rows that count. Minor units. */
export function computeOrderAmounts(rows: OrderRows) {
  const counting = allProductRows(rows).filter(isSoldRow);
  return {
    total: sumField(counting, "totalRow"),
    totalTax: sumField(counting, "taxAmount"),
    totalDiscount: sumField(counting, "totalDiscount"),
    totalWithoutTax: sumField(counting, "taxableAmount"),
  };
}

/** The menu row with these products: its total is that of those that count. */
export function replaceMenuProductRows(
  menu: Omit<MenuRow, "totalRow" | "productRowList">,
  productRowList: ProductRow[],
): MenuRow {
  return { ...menu, totalRow: sumField(productRowList.filter(isSoldRow), "totalRow"), productRowList };
}
