import type { MenuRow } from "@pragma/contracts/menu-row";
import { type OrderSetting, productRow, withRows } from "./product-row.ts";
import type { Menu, Modifier, ModifierGroup, Product } from "./restaurant.ts";
import { splitByWeights } from "./split-by-weights.ts";

/** The row of a set menu: its price is shared out over its products in proportion to their own prices, to the cent. */
export function menuRow(setting: OrderSetting, menu: Menu): MenuRow {
  const { random, room } = setting;
  const id = random.uuid();
  const chosen = menu.steps.map(({ choices }) => random.pick(choices));
  const prices = chosen.map(({ price }) => price);
  const difference = prices.reduce((sum, price) => sum + price, 0) - menu.price;
  const unitPrices = splitByWeights(menu.price, prices);
  const rows = menu.steps.map((step, stepIndex) => {
    const product = chosen[stepIndex] as Product;
    const unitPrice = unitPrices[stepIndex] as number;
    return productRow(setting, {
      product,
      modifiers: random.chance(0.3) ? chooseModifiers(setting, product) : [],
      inMenu: { rowId: id, unitPrice, stepName: step.name, stepIndex },
    });
  });
  const recordedAt = rows.map((row) => row.recordedAt as string).sort()[0] as string;
  return withRows(
    {
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
      totalRow: 0,
      productRowList: [],
    },
    rows,
  );
}

/** One choice of each group that the product has: at least a cooking, a topping, ... */
export function chooseModifiers(
  { random }: OrderSetting,
  product: Product,
): { group: ModifierGroup; modifier: Modifier }[] {
  return product.modifierGroups.map((group) => ({ group, modifier: random.pick(group.modifiers) }));
}
