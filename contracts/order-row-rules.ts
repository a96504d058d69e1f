import type { PosOrderMenuRow, PosOrderProductRow } from "./order-rows.ts";

/** In a file without schemas, so that the threads of exports need not load them. */

/** Returns whether a product row counts as a sale. Does not check whether its order counts as a sale. */
export function isRowCountedAsSale(row: PosOrderProductRow): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

interface OrderRows {
  productRowList: readonly PosOrderProductRow[];
  menuRowList: readonly PosOrderMenuRow[];
}

/** Returns all product rows of an order, including canceled rows: first the rows outside menus, then those in menus. */
export function flattenOrderProductRows({ productRowList, menuRowList }: OrderRows): PosOrderProductRow[] {
  return [...productRowList, ...menuRowList.flatMap((menuRow) => menuRow.productRowList)];
}
