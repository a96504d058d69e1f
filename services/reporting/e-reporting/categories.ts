import type { CategoryMapping, DeclarantSettings, TransactionCategory } from "@pragma/contracts/e-reporting-declarant";
import type { SaleKind } from "./e-report-figures.ts";

/** Sales without VAT are not subject to it; meals eaten in are services; meals taken out are goods. */
const defaultCategories: readonly CategoryMapping[] = [
  { taxRate: 0, category: "TNT1" },
  { serviceType: "eatin", category: "TPS1" },
];

/** The kind of sales at a VAT rate. */
type RateKind = SaleKind & { taxRate: number };

/** Returns the category of sales of a kind at a VAT rate. */
export type CategoryFinder = (sales: RateKind) => TransactionCategory;

/** Creates a function that remembers what it found, because a period has the same kinds of sales on each of its days. */
export function createCategoryFinder(settings: CategorySettings): CategoryFinder {
  const found = new Map<string, TransactionCategory>();
  return (sales) => {
    const { serviceType, roomType, taxRate } = sales;
    const key = `${serviceType} ${roomType} ${taxRate}`;
    const category = found.get(key) ?? findCategory(sales, settings);
    found.set(key, category);
    return category;
  };
}

type CategorySettings = Pick<DeclarantSettings, "defaultServiceType" | "categories">;

/** Returns the category of the first entry that matches. */
function findCategory(
  { serviceType, roomType, taxRate }: RateKind,
  { defaultServiceType, categories }: CategorySettings,
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
