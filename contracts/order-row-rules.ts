/** In a file without schemas, so that the threads of exports need not load them. */

/** Returns whether a product row counts as a sale. Does not check whether its order counts as a sale. */
export function isRowCountedAsSale(row: { isCanceled: boolean; isTransferred: boolean; isLoss: boolean }): boolean {
  return !row.isCanceled && !row.isTransferred && !row.isLoss;
}

interface OrderRows<Row> {
  productRowList: readonly Row[];
  menuRowList: readonly { productRowList: readonly Row[] }[];
}

/** Returns all product rows of an order, including canceled rows: first the rows outside menus, then those in menus. */
export function flattenOrderProductRows<Row>({ productRowList, menuRowList }: OrderRows<Row>): Row[] {
  return [...productRowList, ...menuRowList.flatMap((menuRow) => menuRow.productRowList)];
}
