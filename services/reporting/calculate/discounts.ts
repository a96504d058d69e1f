import { hundredths, plus, taxable } from "@pragma/contracts/money";
import type { DiscountRow, ProductRow } from "@pragma/contracts/order-rows";
import type { ReportV0 } from "@pragma/contracts/report-v0";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { CountedRow } from "./counting.ts";
import { Groups } from "./counting.ts";

type Discount = ReportV2["reportDiscounts"][number];
type DiscountTax = Discount["taxRepartition"][number];

interface DiscountGroup {
  discount: Omit<Discount, "quantity" | "taxRepartition">;
  /** One for each discount over several products, and one for each row that stands alone. */
  given: Set<string | symbol>;
  taxes: Groups<DiscountTax>;
}

/** The discounts on a product row that count: the validated ones. */
export function validatedDiscounts(row: ProductRow): DiscountRow[] {
  return row.discountRowList.filter((discount) => discount.status === "validated");
}

/** Discounts on products sold, by name, catalogue id and whether they made the product free. */
export function discounts(rows: CountedRow[]): Discount[] {
  const groups = new Groups<DiscountGroup>();
  for (const { row } of rows) {
    const gifted = row.totalRow === 0;
    for (const { name, discountId, discountGroupId, amount } of validatedDiscounts(row)) {
      const { discount, given, taxes } = groups.of([name, discountId, gifted], () => ({
        discount: { discountName: name, discountValue: 0, discountCatalogId: discountId, vatAmount: 0, gifted },
        given: new Set(),
        taxes: new Groups(),
      }));
      const withoutTax = taxable(amount, row.taxRate);
      const vat = amount - withoutTax;
      given.add(discountGroupId ?? Symbol());
      discount.discountValue = plus(discount.discountValue, amount);
      discount.vatAmount = plus(discount.vatAmount, vat);

      const taxRate = hundredths(row.taxRate);
      const tax = taxes.of([row.taxName, taxRate], () => ({
        quantity: 0,
        discountValue: 0,
        taxableAmount: 0,
        taxAmount: 0,
        taxName: row.taxName,
        taxRate,
      }));
      tax.quantity += 1;
      tax.discountValue = plus(tax.discountValue, amount);
      tax.taxableAmount = plus(tax.taxableAmount, withoutTax);
      tax.taxAmount = plus(tax.taxAmount, vat);
    }
  }
  return groups
    .all()
    .map(({ discount, given, taxes }) => ({ ...discount, quantity: given.size, taxRepartition: taxes.all() }));
}

/** The same discounts in the report's first shape: by name and catalogue id alone. */
export function discountsV0(rows: CountedRow[]): ReportV0["reportDiscounts"] {
  const groups = new Groups<ReportV0["reportDiscounts"][number]>();
  for (const { row } of rows) {
    for (const { name, discountId, amount } of validatedDiscounts(row)) {
      const group = groups.of([name, discountId], () => ({
        discountName: name,
        discountValue: 0,
        discountCatalogId: discountId,
      }));
      group.discountValue = plus(group.discountValue, amount);
    }
  }
  return groups.all();
}
