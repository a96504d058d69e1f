import { divideRoundingHalfAway } from "@pragma/contracts/money";
import { computeProductRowAmounts, type PosOrderMenuRow, type PosOrderProductRow } from "@pragma/contracts/order-rows";
import { guestStayShareByOrderEvent } from "./order-times.ts";
import { buildMenuRowWithProducts, type OrderGenerationContext, sumFieldOfRows } from "./product-row.ts";

type SplitRowContext = Pick<OrderGenerationContext, "random" | "times">;

/**
 * Returns the parts of a row that is split over several bills. The first part keeps the id of the row, and is the parent
 * of the others. Each part has the full quantity, but only a share of all amounts. Do not use it for rows sold by weight,
 * whose parts would be rounded separately.
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

export function splitMenuRow(context: SplitRowContext, menu: PosOrderMenuRow, shares: readonly number[]) {
  const splitAt = context.times.at(guestStayShareByOrderEvent.split);
  const partsByRow = menu.productRowList.map((row) => splitProductRow(context, row, shares));
  return shares.map((_, part) => {
    const id = part === 0 ? menu.id : context.random.uuid();
    const rows = partsByRow.map((parts) => ({ ...(parts[part] as PosOrderProductRow), menuRowId: id }));
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

/** Returns parts of an amount in proportion to the weights, whose sum is exactly the amount. Weights are integers. */
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
