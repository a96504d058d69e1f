import type { MenuRow, ProductRow } from "@pragma/contracts/order-rows";
import {
  applyDiscount,
  createProductRow,
  type OrderRowContext,
  type OrderRows,
  replaceMenuProductRows,
  sumField,
} from "./product-row.ts";
import type { Discount, Menu, Product } from "./restaurant.ts";
import { cancellationDateTime, cancellationReasons, rowCancellationTiming, stayMoments } from "./service-day.ts";
import { splitAmountByWeights, splitMenuRow, splitProductRow } from "./split-rows.ts";

/** Adds the rows of each of the plan's cases. `ordered`: the products ordered without anything special. */
export function applyRowCases(
  setting: OrderRowContext,
  cases: ReadonlyMap<string, number>,
  rows: OrderRows,
  ordered: readonly Product[],
): OrderRows {
  return rowCaseNames.reduce((added, name) => {
    const caseIndex = cases.get(name);
    return caseIndex === undefined ? added : applyRowCase[name]({ ...setting, caseIndex, rows: added, ordered });
  }, rows);
}

/** Gives one discount over all products of an order. */
export function discountOrder(setting: OrderRowContext, rows: OrderRows, discount: Discount): OrderRows {
  const groupId = setting.random.uuid();
  return mapProductRows(rows, (row) => applyDiscount(setting, row, discount, { groupId }));
}

interface RowCaseContext extends OrderRowContext {
  caseIndex: number;
  rows: OrderRows;
  ordered: readonly Product[];
}

/** The cases that show in an order's rows, in the order in which they are added. */
const applyRowCase = {
  modifier(setting) {
    const product = pickPiece(setting, ({ modifierGroups }) => modifierGroups.length > 0);
    const modifiers = chooseModifiers(setting, product);
    return addProductRows(
      setting,
      createProductRow(setting, { product, modifiers, quantity: randomQuantity(setting) }),
    );
  },
  weight(setting) {
    const product = setting.random.pick(setting.restaurant.products.filter(({ soldBy }) => soldBy === "kilogram"));
    return addProductRows(setting, createProductRow(setting, { product, grams: setting.random.integer(180, 1900) }));
  },
  menu(setting) {
    return addMenuRows(setting, ...Array.from({ length: setting.random.integer(1, 3) }, () => randomMenuRow(setting)));
  },
  splitMenu(setting) {
    return addMenuRows(setting, ...splitMenuRow(setting, randomMenuRow(setting), randomShares(setting)));
  },
  splitRow(setting) {
    const product = pickPiece(
      setting,
      ({ modifierGroups }) => modifierGroups.length > 0 || setting.caseIndex % 3 !== 1,
    );
    const modifiers = setting.caseIndex % 3 === 1 ? chooseModifiers(setting, product) : [];
    const whole = createProductRow(setting, { product, modifiers, quantity: randomQuantity(setting) });
    const row = setting.caseIndex % 3 === 2 ? applyDiscount(setting, whole, randomDiscount(setting)) : whole;
    return addProductRows(setting, ...splitProductRow(setting, row, randomShares(setting)));
  },
  groupDiscount(setting) {
    const discount = setting.random.pick(setting.restaurant.discounts.filter(({ percent }) => percent <= 30));
    return discountOrder(setting, setting.rows, discount);
  },
  discount(setting) {
    return addProductRows(setting, applyDiscount(setting, randomPieceRow(setting), randomDiscount(setting)));
  },
  unsettledDiscount(setting) {
    const discount = randomDiscount(setting);
    const status = (["pending", "cancelled"] as const)[setting.caseIndex % 3];
    if (status) return addProductRows(setting, applyDiscount(setting, randomPieceRow(setting), discount, { status }));
    const group = { groupId: setting.random.uuid(), status: "pending" } as const;
    return addProductRows(
      setting,
      ...[1, 2].map(() => applyDiscount(setting, randomPieceRow(setting), discount, group)),
    );
  },
  gift(setting) {
    const { gift } = setting.restaurant;
    if (setting.caseIndex % 2 === 0)
      return addProductRows(setting, applyDiscount(setting, randomPieceRow(setting), gift));
    const groupId = setting.random.uuid();
    return addProductRows(
      setting,
      ...[1, 2].map(() => applyDiscount(setting, randomPieceRow(setting), gift, { groupId })),
    );
  },
  canceledRow(setting) {
    return addProductRows(setting, cancelRow(setting, randomPieceRow(setting)));
  },
  canceledMenu(setting) {
    const menu = randomMenuRow(setting);
    const count = setting.caseIndex % 2 === 0 ? 1 : menu.productRowList.length;
    return addMenuRows(
      setting,
      mapFirstMenuRows(menu, count, (row) => cancelRow(setting, row)),
    );
  },
  transferredRow(setting) {
    const table = setting.random.pick(setting.restaurant.rooms.flatMap(({ tables }) => tables));
    const modifiedAt = setting.times.at(stayMoments.beforeBill);
    return addProductRows(setting, {
      ...randomPieceRow(setting),
      isTransferred: true,
      transferredTo: `Table ${table.name}`,
      modifiedAt,
    });
  },
  loss(setting) {
    if (setting.caseIndex % 2 === 0) return addProductRows(setting, markRowLost(setting, randomPieceRow(setting)));
    return addMenuRows(
      setting,
      mapFirstMenuRows(randomMenuRow(setting), 1, (row) => markRowLost(setting, row)),
    );
  },
  refundRow(setting) {
    const product = setting.ordered.reduce((cheapest, other) => (other.price < cheapest.price ? other : cheapest));
    return addProductRows(setting, createProductRow(setting, { product, quantity: -1 }));
  },
  mergedOrder(setting) {
    return addProductRows(setting, { ...randomPieceRow(setting), isMerged: true });
  },
} satisfies Record<string, (setting: RowCaseContext) => OrderRows>;

export type RowCase = keyof typeof applyRowCase;
export const rowCaseNames = Object.keys(applyRowCase) as RowCase[];

function addProductRows({ rows }: RowCaseContext, ...added: ProductRow[]): OrderRows {
  return { ...rows, productRowList: [...rows.productRowList, ...added] };
}

function addMenuRows({ rows }: RowCaseContext, ...added: MenuRow[]): OrderRows {
  return { ...rows, menuRowList: [...rows.menuRowList, ...added] };
}

function mapProductRows(
  { productRowList, menuRowList }: OrderRows,
  change: (row: ProductRow) => ProductRow,
): OrderRows {
  return {
    productRowList: productRowList.map(change),
    menuRowList: menuRowList.map((menu) => replaceMenuProductRows(menu, menu.productRowList.map(change))),
  };
}

function mapFirstMenuRows(menu: MenuRow, count: number, change: (row: ProductRow) => ProductRow): MenuRow {
  const { productRowList: rows } = menu;
  return replaceMenuProductRows(menu, [...rows.slice(0, count).map(change), ...rows.slice(count)]);
}

function cancelRow({ random, times, caseIndex }: RowCaseContext, row: ProductRow): ProductRow {
  const canceledReason = random.pick([...cancellationReasons, null]);
  return {
    ...row,
    isCanceled: true,
    canceledReason,
    modifiedAt: cancellationDateTime(times, rowCancellationTiming(caseIndex)),
  };
}

function markRowLost({ random, times }: RowCaseContext, row: ProductRow): ProductRow {
  const lossReason = random.pick(["Casse", "Renversé", "Erreur de cuisson"]);
  return { ...row, isLoss: true, lossReason, modifiedAt: times.at(stayMoments.beforeBill) };
}

function randomPieceRow(setting: RowCaseContext): ProductRow {
  return createProductRow(setting, { product: pickPiece(setting), quantity: randomQuantity(setting) });
}

function pickPiece({ random, restaurant }: RowCaseContext, fits: (product: Product) => boolean = () => true): Product {
  return random.pick(restaurant.products.filter((product) => product.soldBy === "piece" && fits(product)));
}

function randomMenuRow(setting: RowCaseContext): MenuRow {
  return createMenuRow(setting, setting.random.pick(setting.restaurant.menus));
}

function randomDiscount({ random, restaurant }: RowCaseContext) {
  return random.pick(restaurant.discounts);
}

function randomQuantity({ random }: RowCaseContext): number {
  return random.pickWeighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ]);
}

function randomShares({ random }: RowCaseContext): readonly number[] {
  return random.pick([
    [1, 1],
    [2, 3],
    [1, 1, 1],
  ]);
}

/** The row of a set menu: its price is shared out over its products in proportion to their own prices, to the cent. */
export function createMenuRow(setting: OrderRowContext, menu: Menu): MenuRow {
  const { random, room } = setting;
  const id = random.uuid();
  const chosen = menu.steps.map(({ choices }) => random.pick(choices));
  const difference = sumField(chosen, "price") - menu.price;
  const unitPrices = splitAmountByWeights(
    menu.price,
    chosen.map(({ price }) => price),
  );
  const rows = chosen.map((product, stepIndex) =>
    createProductRow(setting, {
      product,
      modifiers: random.chance(0.3) ? chooseModifiers(setting, product) : [],
      inMenu: {
        rowId: id,
        unitPrice: unitPrices[stepIndex] as number,
        stepName: menu.steps[stepIndex]?.name as string,
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
  return replaceMenuProductRows(row, rows);
}

/** One choice of each group that the product has: at least a cooking, a topping, ... */
export function chooseModifiers({ random }: OrderRowContext, { modifierGroups }: Product) {
  return modifierGroups.map((group) => ({ group, modifier: random.pick(group.modifiers) }));
}
