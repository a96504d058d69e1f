import type { MenuRow, ProductRow } from "@pragma/contracts/order-rows";
import { chooseModifiers, menuRow } from "./menu-row.ts";
import { canceledAt, cancelReasons, type OrderPlan, type RowCase, rowCancellation, rowCases } from "./plan-orders.ts";
import { discounted, type OrderRows, type OrderSetting, productRow, withRows } from "./product-row.ts";
import type { Product } from "./restaurant.ts";
import { moment } from "./service-day.ts";
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
    return turn === undefined ? played : plays[name]({ ...setting, turn, rows: played, ordered });
  }, rows);
}

/** Gives the whole order away, as one discount over all its products. */
export function giveAway(setting: OrderSetting, rows: OrderRows): OrderRows {
  const groupId = setting.random.uuid();
  return onEveryRow(rows, (row) => discounted(setting, row, setting.restaurant.gift, { groupId }));
}

interface Scene extends OrderSetting {
  turn: number;
  rows: OrderRows;
  ordered: readonly Product[];
}

const plays: Record<RowCase, (scene: Scene) => OrderRows> = {
  modifier(scene) {
    const product = pickPiece(scene, ({ modifierGroups }) => modifierGroups.length > 0);
    const modifiers = chooseModifiers(scene, product);
    return add(scene, productRow(scene, { product, modifiers, quantity: someQuantity(scene) }));
  },
  weight(scene) {
    const product = scene.random.pick(scene.restaurant.products.filter(({ soldBy }) => soldBy === "kilogram"));
    return add(scene, productRow(scene, { product, grams: scene.random.integer(180, 1900) }));
  },
  menu(scene) {
    return addMenus(scene, ...Array.from({ length: scene.random.integer(1, 3) }, () => someMenu(scene)));
  },
  splitMenu(scene) {
    return addMenus(scene, ...splitMenuRow(scene, someMenu(scene), someShares(scene)));
  },
  splitRow(scene) {
    const product = pickPiece(scene, ({ modifierGroups }) => modifierGroups.length > 0 || scene.turn % 3 !== 1);
    const modifiers = scene.turn % 3 === 1 ? chooseModifiers(scene, product) : [];
    const whole = productRow(scene, { product, modifiers, quantity: someQuantity(scene) });
    const row = scene.turn % 3 === 2 ? discounted(scene, whole, someDiscount(scene)) : whole;
    return add(scene, ...splitProductRow(scene, row, someShares(scene)));
  },
  groupDiscount(scene) {
    const discount = scene.random.pick(scene.restaurant.discounts.filter(({ percent }) => percent <= 30));
    const groupId = scene.random.uuid();
    return onEveryRow(scene.rows, (row) => discounted(scene, row, discount, { groupId }));
  },
  discount(scene) {
    return add(scene, discounted(scene, somePiece(scene), someDiscount(scene)));
  },
  unsettledDiscount(scene) {
    const discount = someDiscount(scene);
    if (scene.turn % 3 === 0) return add(scene, discounted(scene, somePiece(scene), discount, { status: "pending" }));
    if (scene.turn % 3 === 1) return add(scene, discounted(scene, somePiece(scene), discount, { status: "cancelled" }));
    const group = { groupId: scene.random.uuid(), status: "pending" } as const;
    return add(scene, ...[1, 2].map(() => discounted(scene, somePiece(scene), discount, group)));
  },
  gift(scene) {
    const { gift } = scene.restaurant;
    if (scene.turn % 2 === 0) return add(scene, discounted(scene, somePiece(scene), gift));
    const groupId = scene.random.uuid();
    return add(scene, ...[1, 2].map(() => discounted(scene, somePiece(scene), gift, { groupId })));
  },
  canceledRow(scene) {
    return add(scene, canceled(scene, somePiece(scene)));
  },
  canceledMenu(scene) {
    const menu = someMenu(scene);
    const count = scene.turn % 2 === 0 ? 1 : menu.productRowList.length;
    return addMenus(
      scene,
      withFirstRows(menu, count, (row) => canceled(scene, row)),
    );
  },
  transferredRow(scene) {
    const table = scene.random.pick(scene.restaurant.rooms.flatMap(({ tables }) => tables));
    const modifiedAt = scene.times.at(moment.beforeBill);
    return add(scene, { ...somePiece(scene), isTransferred: true, transferredTo: `Table ${table.name}`, modifiedAt });
  },
  loss(scene) {
    if (scene.turn % 2 === 0) return add(scene, lost(scene, somePiece(scene)));
    return addMenus(
      scene,
      withFirstRows(someMenu(scene), 1, (row) => lost(scene, row)),
    );
  },
  refundRow(scene) {
    const product = scene.ordered.reduce((cheapest, other) => (other.price < cheapest.price ? other : cheapest));
    return add(scene, productRow(scene, { product, quantity: -1 }));
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

function canceled({ random, times, turn }: Scene, row: ProductRow): ProductRow {
  const canceledReason = random.pick([...cancelReasons, null]);
  return { ...row, isCanceled: true, canceledReason, modifiedAt: canceledAt(times, rowCancellation(turn)) };
}

function lost({ random, times }: Scene, row: ProductRow): ProductRow {
  const lossReason = random.pick(["Casse", "Renversé", "Erreur de cuisson"]);
  return { ...row, isLoss: true, lossReason, modifiedAt: times.at(moment.beforeBill) };
}

function somePiece(scene: Scene): ProductRow {
  return productRow(scene, { product: pickPiece(scene), quantity: someQuantity(scene) });
}

function pickPiece({ random, restaurant }: Scene, fits: (product: Product) => boolean = () => true): Product {
  return random.pick(restaurant.products.filter((product) => product.soldBy === "piece" && fits(product)));
}

function someMenu(scene: Scene): MenuRow {
  return menuRow(scene, scene.random.pick(scene.restaurant.menus));
}

function someDiscount({ random, restaurant }: Scene) {
  return random.pick(restaurant.discounts);
}

function someQuantity({ random }: Scene): number {
  return random.pickWeighted([
    [1, 6],
    [2, 3],
    [3, 1],
  ]);
}

function someShares({ random }: Scene): readonly number[] {
  return random.pick([
    [1, 1],
    [2, 3],
    [1, 1, 1],
  ]);
}
