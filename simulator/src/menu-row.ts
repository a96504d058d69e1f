import type { MenuRow } from "@pragma/contracts/order-rows";
import { type OrderSetting, productRow, sumOf, withRows } from "./product-row.ts";
import type { Menu, Product } from "./restaurant.ts";
import { splitByWeights } from "./split-rows.ts";

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
