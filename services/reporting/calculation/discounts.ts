import { addMoneyAmounts, computeAmountWithoutTax, percentToBasisPoints } from "@pragma/contracts/money";
import type { PosOrderDiscountRow, PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { AggregateMap } from "./aggregate-map.ts";
import type { ReportableProductRow } from "./reportable-orders.ts";

type Discount = ReportV2["reportDiscounts"][number];
type DiscountTax = Discount["taxRepartition"][number];

interface DiscountGroup {
  discount: Omit<Discount, "quantity" | "taxRepartition">;
  /** One element for each discount group, and one for each discount row without a group. */
  distinctDiscounts: Set<string | symbol>;
  taxes: AggregateMap<DiscountTax>;
}

/** Returns the validated discounts of a product row. Reports ignore all other discounts. */
export function listRowDiscounts(row: PosOrderProductRow): PosOrderDiscountRow[] {
  return row.discountRowList.filter((discount) => discount.status === "validated");
}

/** A validated discount of a sold product row. Reports group it by its name and catalog id, and by `gifted`. */
interface SoldProductDiscount {
  discount: PosOrderDiscountRow;
  row: PosOrderProductRow;
  gifted: boolean;
}

/** Returns the validated discounts of sold products, each with whether its product row has a total of 0. */
export function listSoldProductDiscounts(rows: ReportableProductRow[]): SoldProductDiscount[] {
  return rows.flatMap(({ row }) =>
    listRowDiscounts(row).map((discount) => ({ discount, row, gifted: row.totalRow === 0 })),
  );
}

/**
 * Groups discounts on sold products by name, by catalog id, and by whether the discounted product row has a total of 0.
 */
export function groupSoldProductDiscounts(rows: ReportableProductRow[]): Discount[] {
  const groups = new AggregateMap<DiscountGroup>();
  for (const { row, gifted, discount: discountRow } of listSoldProductDiscounts(rows)) {
    const { name, discountId, discountGroupId, amount } = discountRow;
    const { discount, distinctDiscounts, taxes } = groups.getOrCreate([name, discountId, gifted], () => ({
      discount: { discountName: name, discountValue: 0, discountCatalogId: discountId, vatAmount: 0, gifted },
      distinctDiscounts: new Set(),
      taxes: new AggregateMap(),
    }));
    const withoutTax = computeAmountWithoutTax(amount, row.taxRate);
    const vat = amount - withoutTax;
    distinctDiscounts.add(discountGroupId ?? Symbol());
    discount.discountValue = addMoneyAmounts(discount.discountValue, amount);
    discount.vatAmount = addMoneyAmounts(discount.vatAmount, vat);

    const taxRate = percentToBasisPoints(row.taxRate);
    const tax = taxes.getOrCreate([row.taxName, taxRate], () => ({
      quantity: 0,
      discountValue: 0,
      taxableAmount: 0,
      taxAmount: 0,
      taxName: row.taxName,
      taxRate,
    }));
    tax.quantity += 1;
    tax.discountValue = addMoneyAmounts(tax.discountValue, amount);
    tax.taxableAmount = addMoneyAmounts(tax.taxableAmount, withoutTax);
    tax.taxAmount = addMoneyAmounts(tax.taxAmount, vat);
  }
  return groups.values().map(({ discount, distinctDiscounts, taxes }) => ({
    ...discount,
    quantity: distinctDiscounts.size,
    taxRepartition: taxes.values(),
  }));
}

/** Groups discounts for V0 reports, which distinguish them only by name and catalog id. */
export function groupDiscountsForReportV0(rows: ReportableProductRow[]): ReportV0["reportDiscounts"] {
  const groups = new AggregateMap<ReportV0["reportDiscounts"][number]>();
  for (const { row } of rows) {
    for (const { name, discountId, amount } of listRowDiscounts(row)) {
      const group = groups.getOrCreate([name, discountId], () => ({
        discountName: name,
        discountValue: 0,
        discountCatalogId: discountId,
      }));
      group.discountValue = addMoneyAmounts(group.discountValue, amount);
    }
  }
  return groups.values();
}
