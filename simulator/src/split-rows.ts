import { divideRoundingHalfAway } from "@pragma/contracts/money";
import { computeProductRowAmounts, type MenuRow, type ProductRow } from "@pragma/contracts/order-rows";
import { guestStayShareByOrderEvent } from "./order-times.ts";
import { type OrderRowContext, replaceMenuProductRows, sumFieldOfRows } from "./product-row.ts";

type SplitRowContext = Pick<OrderRowContext, "random" | "times">;

/**
 * Splits a row over several bills, and returns its parts. The original keeps the first share; the other parts refer to
 * it as their parent. Price, modifiers and discounts are split to the cent and the quantity stays, so that the parts
 * add up to the whole. Use this only for rows sold by the piece: the parts of a price by weight are rounded one by one.
 */
export function splitProductRowOverBills(
  { random, times }: SplitRowContext,
  row: ProductRow,
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

/** Splits a menu over several bills with `splitProductRow` for each product, and returns its parts. */
export function splitMenuRowOverBills(context: SplitRowContext, menu: MenuRow, shares: readonly number[]): MenuRow[] {
  const splitAt = context.times.at(guestStayShareByOrderEvent.split);
  const partsByRow = menu.productRowList.map((row) => splitProductRowOverBills(context, row, shares));
  return shares.map((_, part) => {
    const id = part === 0 ? menu.id : context.random.uuid();
    const rows = partsByRow.map((parts): ProductRow => ({ ...(parts[part] as ProductRow), menuRowId: id }));
    const changed = {
      ...menu,
      id,
      ...(part > 0 && { parentMenuRowId: menu.id, recordedAt: splitAt }),
      modifiedAt: splitAt,
      unitPriceRow: sumFieldOfRows(rows, "unitPriceRow"),
    };
    return replaceMenuProductRows(changed, rows);
  });
}

/**
 * Splits an amount in proportion to the weights, and returns the parts, which add up to exactly the amount. Weights are
 * whole numbers of at least 0, not all 0.
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
