import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { cleanAggregates, groupByKey, sum } from "./groups.ts";
import { getQuantityUnlessSplitChild, type ReportableProductRow } from "./reportable-orders.ts";

/** Groups sales by product and category. A product in menus and the same product outside menus are separate groups. */
export function groupProductSales(rows: ReportableProductRow[]): ReportV2["reportProducts"] {
  return groupSales(rows, getReportProductKey).map((group) => ({
    productCatalogId: group.first.row.productId,
    productQuantity: group.quantity,
    productSales: group.sales,
    excludingTax: group.withoutTax,
    inMenu: group.first.inMenu,
    subCategory: group.first.row.subCategoryName,
    productName: group.first.row.name,
    category: group.first.row.categoryName,
  }));
}

/** Groups sales by product for V0 reports, which do not distinguish products in menus. */
export function groupProductSalesV0(rows: ReportableProductRow[]): ReportV0["reportProducts"] {
  return groupSales(rows, productKey).map((group) => ({
    productName: group.first.row.name,
    productSales: group.sales,
    category: group.first.row.categoryName,
    subCategory: group.first.row.subCategoryName,
    productQuantity: group.quantity,
    productCatalogId: group.first.row.productId,
  }));
}

/** Returns what distinguishes the entry of a row in `reportProducts` from other entries. */
export function getReportProductKey(soldRow: ReportableProductRow): (string | boolean | null)[] {
  return [...productKey(soldRow), soldRow.inMenu];
}

function productKey({ row }: ReportableProductRow) {
  return [row.productId, row.name, row.categoryName, row.subCategoryName];
}

function groupSales(
  rows: ReportableProductRow[],
  getKey: (soldRow: ReportableProductRow) => (string | boolean | null)[],
) {
  const groups = groupByKey(rows, getKey).map((group) => ({
    first: group[0],
    quantity: sum(group.map(({ row }) => getQuantityUnlessSplitChild(row))),
    sales: sum(group.map(({ row }) => row.totalRow)),
    withoutTax: sum(group.map(({ row }) => row.taxableAmount)),
  }));
  return cleanAggregates(groups, ({ sales, withoutTax }) => [sales, withoutTax]);
}
