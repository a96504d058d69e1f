import type { MenuRow } from "@pragma/contracts/menu-row";
import type { ProductRow } from "@pragma/contracts/product-row";
import { moment } from "./order-times.ts";
import { type OrderSetting, priced, sumOf, withRows } from "./product-row.ts";
import { splitByWeights } from "./split-by-weights.ts";

/**
 * Splits a row over several bills: the original keeps the first share, each other share is a child that names it. Price,
 * modifiers and discounts are shared out to the cent and the quantity stays, so that original and children add up to
 * the whole. For rows that are sold by the piece: parts of a weighed price are rounded one by one.
 */
export function splitProductRow(
  { random, times }: Pick<OrderSetting, "random" | "times">,
  row: ProductRow,
  shares: readonly number[],
): ProductRow[] {
  const splitAt = times.at(moment.split);
  const discountGroupId = random.uuid();
  const unitPrices = splitByWeights(row.unitPriceRow, shares);
  const modifiers = row.modifierRowList.map(({ amount }) => splitByWeights(amount, shares));
  const discounts = row.discountRowList.map(({ amount }) => splitByWeights(amount, shares));
  return unitPrices.map((unitPriceRow, part) =>
    priced({
      ...row,
      id: part === 0 ? row.id : random.uuid(),
      parentProductRowId: part === 0 ? row.parentProductRowId : row.id,
      recordedAt: part === 0 ? row.recordedAt : splitAt,
      modifiedAt: splitAt,
      unitPriceRow,
      modifierRowList: row.modifierRowList.map((modifier, index) => ({
        ...modifier,
        id: part === 0 ? modifier.id : random.uuid(),
        amount: modifiers[index]?.[part] ?? 0,
      })),
      discountRowList: row.discountRowList.map((discount, index) => ({
        ...discount,
        id: part === 0 ? discount.id : random.uuid(),
        amount: discounts[index]?.[part] ?? 0,
        discountGroupId: discount.discountGroupId ?? discountGroupId,
      })),
    }),
  );
}

/** Splits a menu over several bills, product by product, as `splitProductRow` does. */
export function splitMenuRow(
  setting: Pick<OrderSetting, "random" | "times">,
  menu: MenuRow,
  shares: readonly number[],
): MenuRow[] {
  const { random, times } = setting;
  const splitAt = times.at(moment.split);
  const partsOfRows = menu.productRowList.map((row) => splitProductRow(setting, row, shares));
  return shares.map((_, part) => {
    const id = part === 0 ? menu.id : random.uuid();
    const rows = partsOfRows.flatMap((parts) => parts.slice(part, part + 1)).map((row) => ({ ...row, menuRowId: id }));
    return withRows(
      {
        ...menu,
        id,
        parentMenuRowId: part === 0 ? menu.parentMenuRowId : menu.id,
        recordedAt: part === 0 ? menu.recordedAt : splitAt,
        modifiedAt: splitAt,
        unitPriceRow: sumOf(rows, "unitPriceRow"),
      },
      rows,
    );
  });
}
