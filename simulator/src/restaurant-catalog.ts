import type { Catalog } from "@pragma/contracts/catalog";
import { hundredths } from "@pragma/contracts/money";
import { Random } from "./random.ts";
import type { Product, Restaurant } from "./restaurant.ts";

/**
 * What a restaurant's point of sale says of it: under the ids that its tills name, whatever they sell and however they
 * are paid; and two products that it sold once, which are archived.
 */
export function catalogOf(restaurant: Restaurant): Catalog {
  const { products, rooms, paymentMethods } = restaurant;
  const taxes = eachOnce(products.map(({ tax }) => tax));
  const groups = eachOnce(products.flatMap(({ modifierGroups }) => modifierGroups));
  const categories = eachOnce(products.map(({ categoryId, category }) => ({ id: categoryId, name: category })));
  const pricings = eachOnce(rooms.map(({ pricing }) => pricing));
  const describe = (product: Product): Catalog["products"][number] => ({
    id: product.id,
    name: product.name,
    category: product.category,
    categoryId: product.categoryId,
    subCategories: [{ name: product.subCategory, id: product.subCategoryId }],
    priceList: pricings.map(({ id, name }) => ({
      priceTypeId: id,
      priceTypeName: name,
      unitPrice: product.price,
      taxRate: hundredths(product.tax.rate),
    })),
    sku: product.sku,
  });
  const archived = formerProducts(restaurant).map((product) => ({ ...describe(product), subCategories: [] }));
  return {
    products: [...products.map(describe), ...archived],
    payments: Object.values(paymentMethods).map(({ id, name }) => ({ id, name, enabled: true })),
    taxes: taxes.map(({ id, name, rate }) => ({ id, name, percentage: hundredths(rate) })),
    modifiers: groups.map(({ id, name, modifiers }) => ({
      id,
      name,
      options: modifiers.map((modifier) => ({ id: modifier.id, name: modifier.name, price: modifier.amount })),
    })),
    categories: categories.map((category, index) => ({ ...category, index })),
  };
}

/** What was on the card in other seasons, where something similar is now. */
const former = { "Soupe au pistou": "Velouté de potiron", "Vin chaud": "Kir cassis" };

function formerProducts({ products, device }: Restaurant): Product[] {
  const random = new Random(`archive/${device.id}`);
  return Object.entries(former).flatMap(([name, similar]) =>
    products
      .filter((product) => product.name === similar)
      .map((product) => ({ ...product, id: random.uuid(), name, sku: null })),
  );
}

function eachOnce<Item extends { readonly id: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
