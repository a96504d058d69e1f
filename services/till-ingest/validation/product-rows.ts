import type { PosOrderData } from "@pragma/contracts/order-data";

/** Yields the product rows of a V2 order, also in menus, with their path within the order. */
export function* listProductRows({
  productRowList,
  menuRowList,
}: PosOrderData): Generator<{ row: PosOrderData["productRowList"][number]; path: string }> {
  for (const [index, row] of productRowList.entries()) yield { row, path: `productRowList[${index}]` };
  for (const [menuIndex, menu] of menuRowList.entries())
    for (const [index, row] of menu.productRowList.entries())
      yield { row, path: `menuRowList[${menuIndex}].productRowList[${index}]` };
}
