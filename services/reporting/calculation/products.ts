import { addMoneyAmounts } from "@pragma/contracts/money";
import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { AggregateMap, cleanAggregates } from "./aggregate-map.ts";
import { getQuantityUnlessSplitChild, type ReportableProductRow } from "./reportable-orders.ts";

interface ProductSales {
  first: ReportableProductRow;
  quantity: number;
  sales: number;
  withoutTax: number;
}

/**
 * Groups sales by the catalog id, name, category and subcategory of the product. A product in menus and the same
 * product outside menus are separate groups.
 */
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
): ProductSales[] {
  const groups = new AggregateMap<ProductSales>();
  for (const soldRow of rows) {
    const group = groups.getOrCreate(getKey(soldRow), () => ({ first: soldRow, quantity: 0, sales: 0, withoutTax: 0 }));
    group.quantity = addMoneyAmounts(group.quantity, getQuantityUnlessSplitChild(soldRow.row));
    group.sales = addMoneyAmounts(group.sales, soldRow.row.totalRow);
    group.withoutTax = addMoneyAmounts(group.withoutTax, soldRow.row.taxableAmount);
  }
  return cleanAggregates(groups.values(), (group) => [group.sales, group.withoutTax]);
}
