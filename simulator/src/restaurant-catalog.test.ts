import { Catalog } from "@pragma/contracts/catalog";
import { describe, expect, it } from "vitest";
import { generateTill } from "./generate-till.ts";
import { generateRestaurant } from "./restaurant.ts";
import { buildRestaurantCatalog } from "./restaurant-catalog.ts";

const catalog = buildRestaurantCatalog(generateRestaurant("seed"));
const idsOf = (items: readonly { id: string }[]) => new Set(items.map(({ id }) => id));

/** Returns the ids in this field of the rows, except for ids that the catalog contains. */
function unknownIds<Row>(rows: Row[], field: keyof Row, catalogIds: Set<string>): unknown[] {
  return rows.map((row) => row[field]).filter((id) => id !== null && !catalogIds.has(String(id)));
}

describe("buildRestaurantCatalog", () => {
  it("always returns the same valid catalog", () => {
    expect(Catalog.parse(catalog)).toEqual(catalog);
    expect(buildRestaurantCatalog(generateRestaurant("seed"))).toEqual(catalog);
  });

  it("contains every product, category, price list, tax, modifier and payment method of its tills", () => {
    const till = generateTill({ seed: "seed", orders: 300, day: "2026-05-29" });
    const rows = till.orderList.flatMap(({ productRowList, menuRowList }) => [
      ...productRowList,
      ...menuRowList.flatMap((menu) => menu.productRowList),
    ]);
    const modifiers = rows.flatMap(({ modifierRowList }) => modifierRowList);
    const payments = till.orderList.flatMap(({ paymentRowList }) => paymentRowList);
    const prices = catalog.products.flatMap(({ priceList }) => priceList.map(({ priceTypeId: id }) => ({ id })));
    expect(rows.length).toBeGreaterThan(500);
    expect(unknownIds(rows, "productId", idsOf(catalog.products))).toEqual([]);
    expect(unknownIds(rows, "categoryId", idsOf(catalog.categories))).toEqual([]);
    expect(unknownIds(rows, "pricingId", idsOf(prices))).toEqual([]);
    expect(unknownIds(rows, "taxId", idsOf(catalog.taxes))).toEqual([]);
    expect(unknownIds(modifiers, "modifierGroupId", idsOf(catalog.modifiers))).toEqual([]);
    const options = catalog.modifiers.flatMap((modifier) => modifier.options);
    expect(unknownIds(modifiers, "modifierId", idsOf(options))).toEqual([]);
    expect(unknownIds(payments, "paymentId", idsOf(catalog.payments))).toEqual([]);
    expect(unknownIds(till.declaredPaymentList, "paymentId", idsOf(catalog.payments))).toEqual([]);
  });

  it("has only valid references, and archived products", () => {
    const percentages = new Set(catalog.taxes.map(({ percentage }) => percentage));
    expect(percentages).toEqual(new Set([550, 1000, 2000]));
    for (const { categoryId, priceList } of catalog.products) {
      expect(idsOf(catalog.categories)).toContain(categoryId);
      for (const { taxRate } of priceList) expect(percentages).toContain(taxRate);
    }
    const archived = catalog.products.filter(({ subCategories }) => subCategories.length === 0);
    expect(archived.map(({ name }) => name)).toEqual(["Soupe au pistou", "Vin chaud"]);
  });
});
