import { getSchemaFieldDefaults } from "@pragma/contracts/fields";
import { divideRoundingHalfAway } from "@pragma/contracts/money";
import {
  computeProductRowAmounts,
  flattenOrderProductRows,
  isRowCountedAsSale,
  PosOrderDiscountRow,
  type PosOrderMenuRow,
  PosOrderProductRow,
} from "@pragma/contracts/order-rows";
import { guestStayShareByOrderEvent, type SimulatedOrderTimes } from "./order-times.ts";
import type { SeededRandom } from "./random.ts";
import type { GeneratedRestaurant, GeneratedRestaurantProduct } from "./restaurant.ts";

/** The room, the times and the clerk of an order. All rows of the order share this context. */
export interface OrderGenerationContext {
  readonly random: SeededRandom;
  readonly restaurant: GeneratedRestaurant;
  readonly room: GeneratedRestaurant["rooms"][number];
  readonly operator: GeneratedRestaurant["clerks"][number];
  readonly times: SimulatedOrderTimes;
}

export interface SimulatedOrderRows {
  readonly productRowList: readonly PosOrderProductRow[];
  readonly menuRowList: readonly PosOrderMenuRow[];
}

interface ProductLine {
  product: GeneratedRestaurantProduct;
  /** 1 by default; negative for a returned product. */
  quantity?: number;
  grams?: number;
  modifiers?: ReturnType<typeof chooseRandomProductModifiers>;
  /** For a product of a menu: its share of the menu's price in minor units, and its step in the menu. */
  inMenu?: { rowId: string; unitPrice: number; stepName: string; stepIndex: number };
}

const rowDefaults = getSchemaFieldDefaults(PosOrderProductRow.shape);
const discountDefaults = getSchemaFieldDefaults(PosOrderDiscountRow.shape);

export function generateProductRow(context: OrderGenerationContext, line: ProductLine): PosOrderProductRow {
  const { product, inMenu } = line;
  const { random, room, operator } = context;
  const { device } = context.restaurant;
  const { orderedAt, reclaimedAt, sequence } = computeServingTimes(context, line);
  return computeProductRowAmounts({
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

export function chooseRandomProductModifiers(
  { random }: OrderGenerationContext,
  { modifierGroups }: GeneratedRestaurantProduct,
) {
  return modifierGroups.map((group) => ({ group, modifier: random.pick(group.modifiers) }));
}

/**
 * Returns when a product is ordered, when the kitchen is called for it (null without a call), and its preparation sequence.
 * Seated guests order drinks, then courses and menus together, later desserts and more drinks. The kitchen is called for
 * main courses and later steps of a menu. In takeout and delivery orders, all are ordered together, without a call.
 */
function computeServingTimes({ random, room, times }: OrderGenerationContext, { product, inMenu }: ProductLine) {
  const { course } = product;
  const { firstRound, anotherRound, courses, desserts } = guestStayShareByOrderEvent;
  const drinks = random.chance(0.35) ? anotherRound : firstRound;
  const isServed = room.type !== "takeOut" && room.type !== "extOrder";
  let share: number = isServed ? courses : firstRound;
  if (isServed && !inMenu && course === "drink") share = drinks;
  if (isServed && !inMenu && course === "dessert") share = desserts;
  const sequence = isServed ? (inMenu?.stepIndex ?? Number(course === "main")) : 0;
  const call = kitchenCallShares[sequence];
  return { orderedAt: times.at(share), reclaimedAt: call === undefined ? null : times.at(call), sequence };
}

/** By preparation sequence: the share of the stay after which the kitchen is called. Sequence 0 needs no call. */
const kitchenCallShares: readonly (number | undefined)[] = [undefined, 0.2, 0.42];

/** Adds a discount, which changes the amounts if it is validated. `groupId` joins those of several products. */
export function applyDiscountToProductRow(
  { random, times }: Pick<OrderGenerationContext, "random" | "times">,
  row: PosOrderProductRow,
  { id, name, percent }: GeneratedRestaurant["discounts"][number],
  { groupId, status = "validated" }: { groupId?: string; status?: PosOrderDiscountRow["status"] } = {},
): PosOrderProductRow {
  const discountedAt = times.at(guestStayShareByOrderEvent.discount);
  const discountRow: PosOrderDiscountRow = {
    ...discountDefaults,
    id: random.uuid(),
    recordedAt: discountedAt,
    modifiedAt: discountedAt,
    amount: divideRoundingHalfAway(row.totalRowWithModifier * percent, 100),
    status,
    splitAllowed: true,
    name,
    discountId: id,
    discountGroupId: groupId ?? null,
  };
  const modifiedAt = row.modifiedAt === null || row.modifiedAt < discountedAt ? discountedAt : row.modifiedAt;
  return computeProductRowAmounts({ ...row, modifiedAt, discountRowList: [...row.discountRowList, discountRow] });
}

export function sumFieldOfRows<Name extends string>(rows: readonly Readonly<Record<Name, number>>[], name: Name) {
  return rows.reduce((sum, row) => sum + row[name], 0);
}

/** Returns the totals of an order in minor units. Only sold rows count. */
export function computeSimulatedOrderAmounts(rows: SimulatedOrderRows) {
  const soldRows = flattenOrderProductRows(rows).filter(isRowCountedAsSale);
  return {
    total: sumFieldOfRows(soldRows, "totalRow"),
    totalTax: sumFieldOfRows(soldRows, "taxAmount"),
    totalDiscount: sumFieldOfRows(soldRows, "totalDiscount"),
    totalWithoutTax: sumFieldOfRows(soldRows, "taxableAmount"),
  };
}

/** Returns a menu row with these product rows. Its total is the total of the sold product rows. */
export function buildMenuRowWithProducts(
  menu: Omit<PosOrderMenuRow, "totalRow" | "productRowList">,
  productRowList: PosOrderProductRow[],
): PosOrderMenuRow {
  return { ...menu, totalRow: sumFieldOfRows(productRowList.filter(isRowCountedAsSale), "totalRow"), productRowList };
}
