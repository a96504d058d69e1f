import type { Catalog } from "@pragma/contracts/catalog";

/** Returns a valid catalog with this number of products. Item names contain `mark`, so that catalogs can differ. */
export function buildTestCatalog({ products = 4, mark = "one" }: { products?: number; mark?: string } = {}): Catalog {
  const categories = ["starters", "mains", "drinks"].map((name, index) => ({
    id: `category-${name}`,
    name: `${name} ${mark}`,
    index,
  }));
  return {
    categories,
    taxes: [550, 1000, 2000].map((percentage) => ({ id: `tax-${percentage}`, name: `VAT ${mark}`, percentage })),
    payments: [
      { id: "payment-cash", name: `Cash ${mark}`, enabled: true },
      { id: "payment-check", name: `Check ${mark}`, enabled: false },
    ],
    modifiers: [
      { id: "modifier-cooking", name: `Cooking ${mark}`, options: [{ id: "option-rare", name: "Rare", price: 0 }] },
    ],
    products: Array.from({ length: products }, (_, index) => ({
      id: `product-${index}`,
      name: `Product ${index} ${mark}`,
      category: categories[index % 3]?.name ?? "",
      categoryId: categories[index % 3]?.id ?? "",
      subCategories: index % 4 === 3 ? [] : [{ name: "Classics", id: `sub-category-${index % 5}` }],
      priceList: [
        { priceTypeId: "price-normal", priceTypeName: "Normal", unitPrice: 1000 + index, taxRate: 1000 },
        { priceTypeId: "price-takeout", priceTypeName: "Take-out", unitPrice: 900 + index, taxRate: 550 },
      ],
      sku: index % 2 === 0 ? `SKU-${index}` : null,
    })),
  };
}
