import type { PosOrderMenuRow, PosOrderProductRow } from "@pragma/contracts/order-rows";
import {
  guestStayShareByCancellation,
  guestStayShareByOrderEvent,
  pickCancellationTiming,
  simulatedCancellationReasons,
} from "./order-times.ts";
import {
  applyDiscountToProductRow,
  buildMenuRowWithProducts,
  chooseRandomProductModifiers,
  generateProductRow,
  type OrderGenerationContext,
  type SimulatedOrderRows,
  sumFieldOfRows,
} from "./product-row.ts";
import type { GeneratedRestaurant, GeneratedRestaurantProduct } from "./restaurant.ts";
import { splitAmountByWeights, splitMenuRow, splitProductRow } from "./split-rows.ts";

/** Returns the rows of an order, including its special cases. `orderedProducts` are its ordinary products. */
export function addSpecialCases(
  context: OrderGenerationContext,
  cases: ReadonlyMap<string, number>,
  rows: SimulatedOrderRows,
  orderedProducts: readonly GeneratedRestaurantProduct[],
): SimulatedOrderRows {
  return specialOrderRowCaseNames.reduce((rowsSoFar, name) => {
    const caseIndex = cases.get(name);
    if (caseIndex === undefined) return rowsSoFar;
    const added = rowCases[name]({ ...context, caseIndex, rows: rowsSoFar, orderedProducts });
    if (!Array.isArray(added)) return added;
    return {
      productRowList: [...rowsSoFar.productRowList, ...added.filter((row) => "modifierRowList" in row)],
      menuRowList: [...rowsSoFar.menuRowList, ...added.filter((row) => "productRowList" in row)],
    };
  }, rows);
}

export function applyDiscountToSimulatedOrder(
  context: OrderGenerationContext,
  rows: SimulatedOrderRows,
  discount: GeneratedRestaurant["discounts"][number],
): SimulatedOrderRows {
  const groupId = context.random.uuid();
  const change: ChangeRow = (row) => applyDiscountToProductRow(context, row, discount, { groupId });
  return {
    productRowList: rows.productRowList.map(change),
    menuRowList: rows.menuRowList.map((menu) => buildMenuRowWithProducts(menu, menu.productRowList.map(change))),
  };
}

interface RowCaseContext extends OrderGenerationContext {
  caseIndex: number;
  rows: SimulatedOrderRows;
  orderedProducts: readonly GeneratedRestaurantProduct[];
}

/** The rows that a special case adds, or all rows of the order if the case changes them. */
type RowsOfCase = (PosOrderProductRow | PosOrderMenuRow)[] | SimulatedOrderRows;

/** In the sequence in which they are called. */
const rowCases = {
  modifier(context) {
    const product = pickPiece(context, true);
    const modifiers = chooseRandomProductModifiers(context, product);
    return [generateProductRow(context, { product, modifiers, quantity: randomQuantity(context) })];
  },
  weight(context) {
    const product = context.random.pick(context.restaurant.products.filter(({ soldBy }) => soldBy === "kilogram"));
    return [generateProductRow(context, { product, grams: context.random.integer(180, 1900) })];
  },
  menu: (context) => Array.from({ length: context.random.integer(1, 3) }, () => randomMenuRow(context)),
  splitMenu: (context) => splitMenuRow(context, randomMenuRow(context), randomShares(context)),
  splitRow(context) {
    const variant = context.caseIndex % 3;
    const product = pickPiece(context, variant === 1);
    const modifiers = variant === 1 ? chooseRandomProductModifiers(context, product) : [];
    const whole = generateProductRow(context, { product, modifiers, quantity: randomQuantity(context) });
    const row = variant === 2 ? applyDiscountToProductRow(context, whole, randomDiscount(context)) : whole;
    return splitProductRow(context, row, randomShares(context));
  },
  groupDiscount(context) {
    const discount = context.random.pick(context.restaurant.discounts.filter(({ percent }) => percent <= 30));
    return applyDiscountToSimulatedOrder(context, context.rows, discount);
  },
  discount: (context) => [applyDiscountToProductRow(context, randomPieceRow(context), randomDiscount(context))],
  unsettledDiscount(context) {
    const discount = randomDiscount(context);
    const status = (["pending", "cancelled"] as const)[context.caseIndex % 3];
    if (status) return [applyDiscountToProductRow(context, randomPieceRow(context), discount, { status })];
    const group = { groupId: context.random.uuid(), status: "pending" } as const;
    return [1, 2].map(() => applyDiscountToProductRow(context, randomPieceRow(context), discount, group));
  },
  gift(context) {
    const { gift } = context.restaurant;
    if (context.caseIndex % 2 === 0) return [applyDiscountToProductRow(context, randomPieceRow(context), gift)];
    const groupId = context.random.uuid();
    return [1, 2].map(() => applyDiscountToProductRow(context, randomPieceRow(context), gift, { groupId }));
  },
  canceledRow: (context) => [cancelRow(context, randomPieceRow(context))],
  canceledMenu(context) {
    const menu = randomMenuRow(context);
    const count = context.caseIndex % 2 === 0 ? 1 : menu.productRowList.length;
    return [mapFirstMenuRows(menu, count, (row) => cancelRow(context, row))];
  },
  transferredRow(context) {
    const table = context.random.pick(context.restaurant.rooms.flatMap(({ tables }) => tables));
    const modifiedAt = context.times.at(guestStayShareByOrderEvent.beforeBill);
    const transferredTo = `Table ${table.name}`;
    return [{ ...randomPieceRow(context), isTransferred: true, transferredTo, modifiedAt }];
  },
  loss(context) {
    if (context.caseIndex % 2 === 0) return [markRowLost(context, randomPieceRow(context))];
    return [mapFirstMenuRows(randomMenuRow(context), 1, (row) => markRowLost(context, row))];
  },
  refundRow(context) {
    const [product] = context.orderedProducts.toSorted((one, other) => one.price - other.price);
    return product ? [generateProductRow(context, { product, quantity: -1 })] : [];
  },
  mergedOrder: (context) => [{ ...randomPieceRow(context), isMerged: true }],
} satisfies Record<string, (context: RowCaseContext) => RowsOfCase>;

export type SpecialOrderRowCaseName = keyof typeof rowCases;
export const specialOrderRowCaseNames = Object.keys(rowCases) as SpecialOrderRowCaseName[];

type ChangeRow = (row: PosOrderProductRow) => PosOrderProductRow;

function mapFirstMenuRows(menu: PosOrderMenuRow, count: number, change: ChangeRow): PosOrderMenuRow {
  const { productRowList: rows } = menu;
  return buildMenuRowWithProducts(menu, [...rows.slice(0, count).map(change), ...rows.slice(count)]);
}

function cancelRow({ random, times, caseIndex }: RowCaseContext, row: PosOrderProductRow): PosOrderProductRow {
  const canceledReason = random.pick([...simulatedCancellationReasons, null]);
  const modifiedAt = times.at(guestStayShareByCancellation[pickCancellationTiming("row", caseIndex)]);
  return { ...row, isCanceled: true, canceledReason, modifiedAt };
}

function markRowLost({ random, times }: RowCaseContext, row: PosOrderProductRow): PosOrderProductRow {
  const lossReason = random.pick(["Casse", "Renversé", "Erreur de cuisson"]);
  return { ...row, isLoss: true, lossReason, modifiedAt: times.at(guestStayShareByOrderEvent.beforeBill) };
}

function randomPieceRow(context: RowCaseContext): PosOrderProductRow {
  return generateProductRow(context, { product: pickPiece(context), quantity: randomQuantity(context) });
}

function pickPiece({ random, restaurant }: RowCaseContext, needsModifiers = false): GeneratedRestaurantProduct {
  const pieces = restaurant.products.filter(({ soldBy }) => soldBy === "piece");
  return random.pick(needsModifiers ? pieces.filter(({ modifierGroups }) => modifierGroups.length > 0) : pieces);
}

const randomMenuRow = (context: RowCaseContext) =>
  generateSetMenuRow(context, context.random.pick(context.restaurant.menus));

const randomDiscount = ({ random, restaurant }: RowCaseContext) => random.pick(restaurant.discounts);

const randomQuantity = ({ random }: RowCaseContext) =>
  random.pickWeighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ]);

const randomShares = ({ random }: RowCaseContext) =>
  random.pick([
    [1, 1],
    [2, 3],
    [1, 1, 1],
  ]);

/** Returns the row of a set menu. Its price is divided among its products in proportion to their own prices. */
export function generateSetMenuRow(context: OrderGenerationContext, menu: GeneratedRestaurant["menus"][number]) {
  const { random, room } = context;
  const id = random.uuid();
  const chosenProducts = menu.steps.map(({ choices }) => random.pick(choices));
  const prices = chosenProducts.map(({ price }) => price);
  const difference = sumFieldOfRows(chosenProducts, "price") - menu.price;
  const unitPrices = splitAmountByWeights(menu.price, prices);
  const rows = chosenProducts.map((product, stepIndex) =>
    generateProductRow(context, {
      product,
      modifiers: random.chance(0.3) ? chooseRandomProductModifiers(context, product) : [],
      inMenu: {
        rowId: id,
        unitPrice: unitPrices[stepIndex] as number,
        stepName: menu.steps[stepIndex]?.name ?? "",
        stepIndex,
      },
    }),
  );
  const recordedAt = rows.map((row) => row.recordedAt as string).sort()[0] as string;
  const row = {
    id,
    recordedAt,
    modifiedAt: recordedAt,
    unitPriceRow: menu.price,
    currencyCode: "EUR",
    amountToAdd: Math.max(0, -difference),
    amountToSubtract: Math.max(0, difference),
    pricingId: room.pricing.id,
    menuId: menu.id,
    pricingName: room.pricing.name,
    pricingType: room.pricing.type,
    name: menu.name,
    parentMenuRowId: null,
  };
  return buildMenuRowWithProducts(row, rows);
}
