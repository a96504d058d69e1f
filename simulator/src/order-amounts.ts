import { counts, sumOf } from "./product-row.ts";
import type { OrderRows } from "./row-cases.ts";

/** The totals of an order with these rows: those of the rows that count. Minor units. */
export function orderAmounts({ productRowList, menuRowList }: OrderRows) {
  const counting = [...productRowList, ...menuRowList.flatMap((menu) => menu.productRowList)].filter(counts);
  return {
    total: sumOf(counting, "totalRow"),
    totalTax: sumOf(counting, "taxAmount"),
    totalDiscount: sumOf(counting, "totalDiscount"),
    totalWithoutTax: sumOf(counting, "taxableAmount"),
  };
}
