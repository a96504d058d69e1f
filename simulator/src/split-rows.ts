import { divideRoundingHalfAway } from "@pragma/contracts/money";
import { computeProductRowAmounts, type PosOrderMenuRow, type PosOrderProductRow } from "@pragma/contracts/order-rows";
import { guestStayShareByOrderEvent } from "./order-times.ts";
import { buildMenuRowWithProducts, type OrderGenerationContext, sumFieldOfRows } from "./product-row.ts";

type SplitRowContext = Pick<OrderGenerationContext, "random" | "times">;

/**
 * Splits a row over several bills, and returns its parts. The first part keeps the id of the row, and is the parent of
 * the other parts. Each part has the full quantity, but only a share of the price, modifiers and discounts. The shares
 * add up to the original amounts, except in rows sold by weight, whose parts are rounded separately. Therefore, do
 * not use this function for such rows.
 */
export function splitProductRow(
  { random, times }: SplitRowContext,
  row: PosOrderProductRow,
  shares: readonly number[],
) {
  const splitAt = times.at(guestStayShareByOrderEvent.split);
  const groupId = random.uuid();
  const unitPrices = splitAmountByWeights(row.unitPriceRow, shares);
  const split = <Part extends { id: string; amount: number }>(rows: readonly Part[], part: number): Part[] =>
    rows.map((each) => ({
      ...each,
      id: part === 0 ? each.id : random.uuid(),
      amount: splitAmountByWeights(each.amount, shares)[part] as number,
    }));
  return unitPrices.map((unitPriceRow, part) =>
    computeProductRowAmounts({
      ...row,
      ...(part > 0 && { id: random.uuid(), parentProductRowId: row.id, recordedAt: splitAt }),
      modifiedAt: splitAt,
      unitPriceRow,
      modifierRowList: split(row.modifierRowList, part),
      discountRowList: split(row.discountRowList, part).map((discount) => ({
        ...discount,
        discountGroupId: discount.discountGroupId ?? groupId,
      })),
    }),
  );
}

/** Splits a menu over several bills, and returns its parts. Each product of the menu is split separately. */
export function splitMenuRow(
  context: SplitRowContext,
  menu: PosOrderMenuRow,
  shares: readonly number[],
): PosOrderMenuRow[] {
  const splitAt = context.times.at(guestStayShareByOrderEvent.split);
  const partsByRow = menu.productRowList.map((row) => splitProductRow(context, row, shares));
  return shares.map((_, part) => {
    const id = part === 0 ? menu.id : context.random.uuid();
    const rows = partsByRow.map(
      (parts): PosOrderProductRow => ({ ...(parts[part] as PosOrderProductRow), menuRowId: id }),
    );
    const changed = {
      ...menu,
      id,
      ...(part > 0 && { parentMenuRowId: menu.id, recordedAt: splitAt }),
      modifiedAt: splitAt,
      unitPriceRow: sumFieldOfRows(rows, "unitPriceRow"),
    };
    return buildMenuRowWithProducts(changed, rows);
  });
}

/**
 * Splits an amount in proportion to the weights. Returns the parts, whose sum is exactly the amount. Weights must be
 * integers of 0 or more, and at least one of them must not be 0.
 */
export function splitAmountByWeights(amount: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((total, weight) => total + weight, 0);
  let weightSoFar = 0;
  let amountSoFar = 0;
  return weights.map((weight) => {
    weightSoFar += weight;
    const roundedSum = divideRoundingHalfAway(amount * weightSoFar, sum);
    const part = roundedSum - amountSoFar;
    amountSoFar = roundedSum;
    return part;
  });
}
