import { computeAmountWithoutTax, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderDiscountRow, PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { groupByKey, sum } from "./groups.ts";
import type { ReportableProductRow } from "./reportable-orders.ts";

type Discount = ReportV2["reportDiscounts"][number];

/** Returns the validated discounts of a product row. Reports ignore all other discounts. */
export function listRowDiscounts(row: PosOrderProductRow): PosOrderDiscountRow[] {
  return row.discountRowList.filter((discount) => discount.status === "validated");
}

/** Returns the validated discounts of sold products, each with whether its product row has a total of 0. */
export function listSoldProductDiscounts(rows: ReportableProductRow[]) {
  return rows.flatMap(({ row }) =>
    listRowDiscounts(row).map((discount) => ({ discount, row, gifted: row.totalRow === 0 })),
  );
}

/** Groups discounts on sold products by name and catalog id, and by whether the product row has a total of 0. */
export function groupSoldProductDiscounts(rows: ReportableProductRow[]): Discount[] {
  const discounts = listSoldProductDiscounts(rows).map(({ row, gifted, discount }) => {
    const taxableAmount = computeAmountWithoutTax(discount.amount, row.taxRate);
    const taxRate = percentToBasisPoints(row.taxRate);
    return { ...discount, gifted, taxName: row.taxName, taxRate, taxableAmount, vat: discount.amount - taxableAmount };
  });
  return groupByKey(discounts, ({ name, discountId, gifted }) => [name, discountId, gifted]).map((group) => ({
    discountName: group[0].name,
    discountValue: sum(group.map(({ amount }) => amount)),
    discountCatalogId: group[0].discountId,
    vatAmount: sum(group.map(({ vat }) => vat)),
    gifted: group[0].gifted,
    // A discount row without a discount group is a discount of its own.
    quantity: new Set(group.map(({ discountGroupId }) => discountGroupId ?? Symbol())).size,
    taxRepartition: groupByKey(group, ({ taxName, taxRate }) => [taxName, taxRate]).map((taxGroup) => ({
      quantity: taxGroup.length,
      discountValue: sum(taxGroup.map(({ amount }) => amount)),
      taxableAmount: sum(taxGroup.map(({ taxableAmount }) => taxableAmount)),
      taxAmount: sum(taxGroup.map(({ vat }) => vat)),
      taxName: taxGroup[0].taxName,
      taxRate: taxGroup[0].taxRate,
    })),
  }));
}

/** Groups discounts for V0 reports, which distinguish them only by name and catalog id. */
export function groupDiscountsForReportV0(rows: ReportableProductRow[]): ReportV0["reportDiscounts"] {
  const discounts = rows.flatMap(({ row }) => listRowDiscounts(row));
  return groupByKey(discounts, ({ name, discountId }) => [name, discountId]).map((group) => ({
    discountName: group[0].name,
    discountValue: sum(group.map(({ amount }) => amount)),
    discountCatalogId: group[0].discountId,
  }));
}
