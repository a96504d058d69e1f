import type { MenuRow } from "@pragma/contracts/menu-row";
import type { ProductRow } from "@pragma/contracts/product-row";
import { withRows } from "./menu-row.ts";
import { priced, sumOf } from "./product-row.ts";

/**
 * The products of an order as they were at an instant (a date-time in UTC), given those that it has in the end: without
 * what came later, be it a row, a discount, a call of the kitchen or a cancellation, and with rows whole that are split
 * later.
 */
export function productRowsAt(final: readonly ProductRow[], instant: string): ProductRow[] {
  return final
    .filter((row) => isThere(row, instant))
    .map((row) => productRowAt(row, partsTo(row, final, instant), instant));
}

/** The menus of an order as they were at an instant, as `productRowsAt` does for products. */
export function menuRowsAt(final: readonly MenuRow[], instant: string): MenuRow[] {
  const laterRows = final.filter((menu) => !isThere(menu, instant)).flatMap((menu) => menu.productRowList);
  return final
    .filter((menu) => isThere(menu, instant))
    .map((menu) => {
      const rows = productRowsAt([...menu.productRowList, ...laterRows], instant);
      return withRows(
        {
          ...menu,
          unitPriceRow: sumOf(rows, "unitPriceRow"),
          modifiedAt: lastChange([menu.modifiedAt, menu.recordedAt, ...rows.map((row) => row.modifiedAt)], instant),
        },
        rows,
      );
    });
}

function productRowAt(final: ProductRow, laterParts: readonly ProductRow[], instant: string): ProductRow {
  const { modifierRowList, reclaimedAt } = final;
  const isUnchanged = final.modifiedAt === null || final.modifiedAt <= instant;
  const discountRowList = final.discountRowList
    .map((discount, index) => ({
      ...discount,
      amount: discount.amount + laterParts.reduce((sum, part) => sum + (part.discountRowList[index]?.amount ?? 0), 0),
    }))
    .filter((discount) => isThere(discount, instant));
  const changes = [final.recordedAt, reclaimedAt, final.modifiedAt, ...discountRowList.map((each) => each.recordedAt)];
  return priced({
    ...final,
    ...(!isUnchanged && untouched),
    reclaimedAt: reclaimedAt !== null && reclaimedAt <= instant ? reclaimedAt : null,
    modifiedAt: lastChange(changes, instant),
    unitPriceRow: final.unitPriceRow + sumOf(laterParts, "unitPriceRow"),
    modifierRowList: modifierRowList.map((modifier, index) => ({
      ...modifier,
      amount: modifier.amount + laterParts.reduce((sum, part) => sum + (part.modifierRowList[index]?.amount ?? 0), 0),
    })),
    discountRowList,
  });
}

/** The parts that are split off this row after the instant: until then they are in it. */
function partsTo({ id }: ProductRow, final: readonly ProductRow[], instant: string): ProductRow[] {
  return final.filter((row) => row.parentProductRowId === id && !isThere(row, instant));
}

function isThere({ recordedAt }: { recordedAt: string | null }, instant: string): boolean {
  return recordedAt === null || recordedAt <= instant;
}

/** The latest of these date-times that is not after the instant; null when there is none. */
function lastChange(changes: readonly (string | null)[], instant: string): string | null {
  return changes.reduce(
    (last, change) => (change !== null && change <= instant && (last === null || change > last) ? change : last),
    null,
  );
}

/** How a row is before it is canceled, moved or lost. */
const untouched = {
  isCanceled: false,
  canceledReason: null,
  isTransferred: false,
  transferredTo: null,
  isLoss: false,
  lossReason: null,
} as const;
