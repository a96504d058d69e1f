import type { CategoryMapping, DeclarantSettings, TransactionCategory } from "@pragma/contracts/e-reporting-declarant";
import type { SaleKind } from "./till-e-figures.ts";

/** Sales without VAT are not subject to it; meals eaten in are services; meals taken out are goods. */
const defaultCategories: readonly CategoryMapping[] = [
  { taxRate: 0, category: "TNT1" },
  { serviceType: "eatin", category: "TPS1" },
];

/** Returns the category of sales of this kind at this VAT rate: that of the first entry that matches. */
export function findCategory(
  { serviceType, roomType, taxRate }: SaleKind & { taxRate: number },
  { defaultServiceType, categories }: Pick<DeclarantSettings, "defaultServiceType" | "categories">,
): TransactionCategory {
  const known = serviceType === "unknown" ? defaultServiceType : serviceType;
  const match = [...categories, ...defaultCategories].find(
    (entry) =>
      (entry.serviceType === undefined || entry.serviceType === known || entry.serviceType === serviceType) &&
      (entry.roomType === undefined || entry.roomType === roomType) &&
      (entry.taxRate === undefined || entry.taxRate === taxRate),
  );
  return match?.category ?? "TLB1";
}
