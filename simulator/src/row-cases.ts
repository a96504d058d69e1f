import type { MenuRow, ProductRow } from "@pragma/contracts/order-rows";
import { discounted, type OrderRows, type OrderSetting, productRow, sumOf, withRows } from "./product-row.ts";
import type { Discount, Menu, Product } from "./restaurant.ts";
import { canceledAt, cancelReasons, moment, rowCancellation } from "./service-day.ts";
import { splitByWeights, splitMenuRow, splitProductRow } from "./split-rows.ts";

/** Adds the rows of each of the plan's cases. `ordered`: the products ordered without anything special. */
export function addRowCases(
  setting: OrderSetting,
  cases: ReadonlyMap<string, number>,
  rows: OrderRows,
  ordered: readonly Product[],
): OrderRows {
  return rowCases.reduce((added, name) => {
    const caseIndex = cases.get(name);
    return caseIndex === undefined ? added : addCase[name]({ ...setting, caseIndex, rows: added, ordered });
  }, rows);
}

/** Gives one discount over all products of an order. */
export function discountOrder(setting: OrderSetting, rows: OrderRows, discount: Discount): OrderRows {
  const groupId = setting.random.uuid();
  return onEveryRow(rows, (row) => discounted(setting, row, discount, { groupId }));
}

interface CaseSetting extends OrderSetting {
  caseIndex: number;
  rows: OrderRows;
  ordered: readonly Product[];
}

/** The cases that show in an order's rows, in the order in which they are added. */
const addCase = {
  modifier(setting) {
    const product = pickPiece(setting, ({ modifierGroups }) => modifierGroups.length > 0);
    const modifiers = chooseModifiers(setting, product);
    return add(setting, productRow(setting, { product, modifiers, quantity: randomQuantity(setting) }));
  },
  weight(setting) {
    const product = setting.random.pick(setting.restaurant.products.filter(({ soldBy }) => soldBy === "kilogram"));
    return add(setting, productRow(setting, { product, grams: setting.random.integer(180, 1900) }));
  },
  menu(setting) {
    return addMenus(setting, ...Array.from({ length: setting.random.integer(1, 3) }, () => randomMenuRow(setting)));
  },
  splitMenu(setting) {
    return addMenus(setting, ...splitMenuRow(setting, randomMenuRow(setting), randomShares(setting)));
  },
  splitRow(setting) {
    const product = pickPiece(
      setting,
      ({ modifierGroups }) => modifierGroups.length > 0 || setting.caseIndex % 3 !== 1,
    );
    const modifiers = setting.caseIndex % 3 === 1 ? chooseModifiers(setting, product) : [];
    const whole = productRow(setting, { product, modifiers, quantity: randomQuantity(setting) });
    const row = setting.caseIndex % 3 === 2 ? discounted(setting, whole, randomDiscount(setting)) : whole;
    return add(setting, ...splitProductRow(setting, row, randomShares(setting)));
  },
  groupDiscount(setting) {
    const discount = setting.random.pick(setting.restaurant.discounts.filter(({ percent }) => percent <= 30));
    return discountOrder(setting, setting.rows, discount);
  },
  discount(setting) {
    return add(setting, discounted(setting, randomPieceRow(setting), randomDiscount(setting)));
  },
  unsettledDiscount(setting) {
    const discount = randomDiscount(setting);
    const status = (["pending", "cancelled"] as const)[setting.caseIndex % 3];
    if (status) return add(setting, discounted(setting, randomPieceRow(setting), discount, { status }));
    const group = { groupId: setting.random.uuid(), status: "pending" } as const;
    return add(setting, ...[1, 2].map(() => discounted(setting, randomPieceRow(setting), discount, group)));
  },
  gift(setting) {
    const { gift } = setting.restaurant;
    if (setting.caseIndex % 2 === 0) return add(setting, discounted(setting, randomPieceRow(setting), gift));
    const groupId = setting.random.uuid();
    return add(setting, ...[1, 2].map(() => discounted(setting, randomPieceRow(setting), gift, { groupId })));
  },
  canceledRow(setting) {
    return add(setting, canceled(setting, randomPieceRow(setting)));
  },
  canceledMenu(setting) {
    const menu = randomMenuRow(setting);
    const count = setting.caseIndex % 2 === 0 ? 1 : menu.productRowList.length;
    return addMenus(
      setting,
      withFirstRows(menu, count, (row) => canceled(setting, row)),
    );
  },
  transferredRow(setting) {
    const table = setting.random.pick(setting.restaurant.rooms.flatMap(({ tables }) => tables));
    const modifiedAt = setting.times.at(moment.beforeBill);
    return add(setting, {
      ...randomPieceRow(setting),
      isTransferred: true,
      transferredTo: `Table ${table.name}`,
      modifiedAt,
    });
  },
  loss(setting) {
    if (setting.caseIndex % 2 === 0) return add(setting, lost(setting, randomPieceRow(setting)));
    return addMenus(
      setting,
      withFirstRows(randomMenuRow(setting), 1, (row) => lost(setting, row)),
    );
  },
  refundRow(setting) {
    const product = setting.ordered.reduce((cheapest, other) => (other.price < cheapest.price ? other : cheapest));
    return add(setting, productRow(setting, { product, quantity: -1 }));
  },
  mergedOrder(setting) {
    return add(setting, { ...randomPieceRow(setting), isMerged: true });
  },
} satisfies Record<string, (setting: CaseSetting) => OrderRows>;

export type RowCase = keyof typeof addCase;
export const rowCases = Object.keys(addCase) as RowCase[];

function add({ rows }: CaseSetting, ...added: ProductRow[]): OrderRows {
  return { ...rows, productRowList: [...rows.productRowList, ...added] };
}

function addMenus({ rows }: CaseSetting, ...added: MenuRow[]): OrderRows {
  return { ...rows, menuRowList: [...rows.menuRowList, ...added] };
}

function onEveryRow({ productRowList, menuRowList }: OrderRows, change: (row: ProductRow) => ProductRow): OrderRows {
  return {
    productRowList: productRowList.map(change),
    menuRowList: menuRowList.map((menu) => withRows(menu, menu.productRowList.map(change))),
  };
}

function withFirstRows(menu: MenuRow, count: number, change: (row: ProductRow) => ProductRow): MenuRow {
  const { productRowList: rows } = menu;
  return withRows(menu, [...rows.slice(0, count).map(change), ...rows.slice(count)]);
}

function canceled({ random, times, caseIndex }: CaseSetting, row: ProductRow): ProductRow {
  const canceledReason = random.pick([...cancelReasons, null]);
  return { ...row, isCanceled: true, canceledReason, modifiedAt: canceledAt(times, rowCancellation(caseIndex)) };
}

function lost({ random, times }: CaseSetting, row: ProductRow): ProductRow {
  const lossReason = random.pick(["Casse", "Renversé", "Erreur de cuisson"]);
  return { ...row, isLoss: true, lossReason, modifiedAt: times.at(moment.beforeBill) };
}

function randomPieceRow(setting: CaseSetting): ProductRow {
  return productRow(setting, { product: pickPiece(setting), quantity: randomQuantity(setting) });
}

function pickPiece({ random, restaurant }: CaseSetting, fits: (product: Product) => boolean = () => true): Product {
  return random.pick(restaurant.products.filter((product) => product.soldBy === "piece" && fits(product)));
}

function randomMenuRow(setting: CaseSetting): MenuRow {
  return menuRow(setting, setting.random.pick(setting.restaurant.menus));
}

function randomDiscount({ random, restaurant }: CaseSetting) {
  return random.pick(restaurant.discounts);
}

function randomQuantity({ random }: CaseSetting): number {
  return random.pickWeighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ]);
}

function randomShares({ random }: CaseSetting): readonly number[] {
  return random.pick([
    [1, 1],
    [2, 3],
    [1, 1, 1],
  ]);
}

/** The row of a set menu: its price is shared out over its products in proportion to their own prices, to the cent. */
export function menuRow(setting: OrderSetting, menu: Menu): MenuRow {
  const { random, room } = setting;
  const id = random.uuid();
  const chosen = menu.steps.map(({ choices }) => random.pick(choices));
  const difference = sumOf(chosen, "price") - menu.price;
  const unitPrices = splitByWeights(
    menu.price,
    chosen.map(({ price }) => price),
  );
  const rows = chosen.map((product, stepIndex) =>
    productRow(setting, {
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
  return withRows(row, rows);
}

/** One choice of each group that the product has: at least a cooking, a topping, ... */
export function chooseModifiers({ random }: OrderSetting, { modifierGroups }: Product) {
  return modifierGroups.map((group) => ({ group, modifier: random.pick(group.modifiers) }));
}
