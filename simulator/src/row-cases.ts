import type { MenuRow } from "@pragma/contracts/menu-row";
import type { ProductRow } from "@pragma/contracts/product-row";
import { canceledRow } from "./cancellation.ts";
import { chooseModifiers, menuRow } from "./menu-row.ts";
import { moment } from "./order-times.ts";
import { type OrderPlan, type RowCase, rowCases } from "./plan-orders.ts";
import { discounted, type OrderRows, type OrderSetting, productRow, withRows } from "./product-row.ts";
import type { Product } from "./restaurant.ts";
import { splitMenuRow, splitProductRow } from "./split-rows.ts";

/** Adds the rows of every case that the plan asks for. `ordered`: the products ordered without anything special. */
export function playRowCases(
  setting: OrderSetting,
  plan: OrderPlan,
  rows: OrderRows,
  ordered: readonly Product[],
): OrderRows {
  return rowCases.reduce((played, name) => {
    const turn = plan.turns.get(name);
    return turn === undefined ? played : plays[name]({ setting, turn, rows: played, ordered });
  }, rows);
}

/** Gives the whole order away, as one discount over all its products. */
export function giveAway(setting: OrderSetting, rows: OrderRows): OrderRows {
  const groupId = setting.random.uuid();
  return onEveryRow(rows, (row) => discounted(setting, row, setting.restaurant.gift, { groupId }));
}

interface Scene {
  setting: OrderSetting;
  turn: number;
  rows: OrderRows;
  ordered: readonly Product[];
}

const plays: Record<RowCase, (scene: Scene) => OrderRows> = {
  modifier(scene) {
    const product = pickPiece(scene, ({ modifierGroups }) => modifierGroups.length > 0);
    const modifiers = chooseModifiers(scene.setting, product);
    return add(scene, productRow(scene.setting, { product, modifiers, quantity: someQuantity(scene) }));
  },
  weight(scene) {
    const { random, restaurant } = scene.setting;
    const product = random.pick(restaurant.products.filter(({ soldBy }) => soldBy === "kilogram"));
    return add(scene, productRow(scene.setting, { product, grams: random.integer(180, 1900) }));
  },
  menu(scene) {
    const { random } = scene.setting;
    return addMenus(scene, ...Array.from({ length: random.integer(1, 3) }, () => someMenu(scene)));
  },
  splitMenu(scene) {
    return addMenus(scene, ...splitMenuRow(scene.setting, someMenu(scene), someShares(scene)));
  },
  splitRow(scene) {
    const { random, restaurant } = scene.setting;
    const product = pickPiece(scene, ({ modifierGroups }) => modifierGroups.length > 0 || scene.turn % 3 !== 1);
    const modifiers = scene.turn % 3 === 1 ? chooseModifiers(scene.setting, product) : [];
    const whole = productRow(scene.setting, { product, modifiers, quantity: someQuantity(scene) });
    const row = scene.turn % 3 === 2 ? discounted(scene.setting, whole, random.pick(restaurant.discounts)) : whole;
    return add(scene, ...splitProductRow(scene.setting, row, someShares(scene)));
  },
  groupDiscount({ setting, rows }) {
    const { random, restaurant } = setting;
    const discount = random.pick(restaurant.discounts.filter(({ percent }) => percent <= 30));
    const groupId = random.uuid();
    return onEveryRow(rows, (row) => discounted(setting, row, discount, { groupId }));
  },
  discount(scene) {
    const { random, restaurant } = scene.setting;
    return add(scene, discounted(scene.setting, somePiece(scene), random.pick(restaurant.discounts)));
  },
  unsettledDiscount(scene) {
    const { random, restaurant } = scene.setting;
    const discount = random.pick(restaurant.discounts);
    if (scene.turn % 3 === 0)
      return add(scene, discounted(scene.setting, somePiece(scene), discount, { status: "pending" }));
    if (scene.turn % 3 === 1)
      return add(scene, discounted(scene.setting, somePiece(scene), discount, { status: "cancelled" }));
    const group = { groupId: random.uuid(), status: "pending" } as const;
    return add(scene, ...[1, 2].map(() => discounted(scene.setting, somePiece(scene), discount, group)));
  },
  gift(scene) {
    const { random, restaurant } = scene.setting;
    if (scene.turn % 2 === 0) return add(scene, discounted(scene.setting, somePiece(scene), restaurant.gift));
    const groupId = random.uuid();
    return add(scene, ...[1, 2].map(() => discounted(scene.setting, somePiece(scene), restaurant.gift, { groupId })));
  },
  canceledRow(scene) {
    const { random, times } = scene.setting;
    return add(scene, canceledRow(random, times, scene.turn, somePiece(scene)));
  },
  canceledMenu(scene) {
    const { random, times } = scene.setting;
    const canceled = scene.turn % 2 === 0 ? 1 : Number.POSITIVE_INFINITY;
    return addMenus(
      scene,
      changeFirstRows(someMenu(scene), canceled, (row) => canceledRow(random, times, scene.turn, row)),
    );
  },
  transferredRow(scene) {
    const { random, restaurant, times } = scene.setting;
    const table = random.pick(restaurant.rooms.flatMap(({ tables }) => tables));
    return add(scene, {
      ...somePiece(scene),
      isTransferred: true,
      transferredTo: `Table ${table.name}`,
      modifiedAt: times.at(moment.beforeBill),
    });
  },
  loss(scene) {
    if (scene.turn % 2 === 0) return add(scene, lost(scene, somePiece(scene)));
    return addMenus(
      scene,
      changeFirstRows(someMenu(scene), 1, (row) => lost(scene, row)),
    );
  },
  refundRow(scene) {
    const product = scene.ordered.reduce((cheapest, other) => (other.price < cheapest.price ? other : cheapest));
    return add(scene, productRow(scene.setting, { product, quantity: -1 }));
  },
  mergedOrder(scene) {
    return add(scene, { ...somePiece(scene), isMerged: true });
  },
};

function add({ rows }: Scene, ...added: ProductRow[]): OrderRows {
  return { ...rows, productRowList: [...rows.productRowList, ...added] };
}

function addMenus({ rows }: Scene, ...added: MenuRow[]): OrderRows {
  return { ...rows, menuRowList: [...rows.menuRowList, ...added] };
}

function onEveryRow(rows: OrderRows, change: (row: ProductRow) => ProductRow): OrderRows {
  return {
    productRowList: rows.productRowList.map(change),
    menuRowList: rows.menuRowList.map((menu) => withRows(menu, menu.productRowList.map(change))),
  };
}

function changeFirstRows(menu: MenuRow, count: number, change: (row: ProductRow) => ProductRow): MenuRow {
  return withRows(
    menu,
    menu.productRowList.map((row, index) => (index < count ? change(row) : row)),
  );
}

function lost({ setting: { random, times } }: Scene, row: ProductRow): ProductRow {
  const lossReason = random.pick(["Casse", "Renversé", "Erreur de cuisson"]);
  return { ...row, isLoss: true, lossReason, modifiedAt: times.at(moment.beforeBill) };
}

function somePiece(scene: Scene): ProductRow {
  return productRow(scene.setting, { product: pickPiece(scene), quantity: someQuantity(scene) });
}

function pickPiece({ setting: { random, restaurant } }: Scene, fits: (product: Product) => boolean = () => true) {
  return random.pick(restaurant.products.filter((product) => product.soldBy === "piece" && fits(product)));
}

function someMenu({ setting }: Scene): MenuRow {
  return menuRow(setting, setting.random.pick(setting.restaurant.menus));
}

function someQuantity({ setting: { random } }: Scene): number {
  return random.pickWeighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ]);
}

function someShares({ setting: { random } }: Scene): readonly number[] {
  return random.pick([
    [1, 1],
    [2, 3],
    [1, 1, 1],
  ]);
}
