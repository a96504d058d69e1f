import type { Catalog } from "@pragma/contracts/catalog";
import { percentToBasisPoints } from "@pragma/contracts/money";
import { SeededRandom } from "./random.ts";
import type { GeneratedRestaurant, GeneratedRestaurantProduct } from "./restaurant.ts";

/** Returns all items to which the restaurant's tills refer, with the same ids, and two archived products. */
export function buildRestaurantCatalog(restaurant: GeneratedRestaurant): Catalog {
  const { products, rooms, paymentMethods } = restaurant;
  const taxes = uniqueById(products.map(({ tax }) => tax));
  const groups = uniqueById(products.flatMap(({ modifierGroups }) => modifierGroups));
  const categories = uniqueById(products.map(({ categoryId, category }) => ({ id: categoryId, name: category })));
  const pricings = uniqueById(rooms.map(({ pricing }) => pricing));
  const toCatalogProduct = (product: GeneratedRestaurantProduct): Catalog["products"][number] => ({
    id: product.id,
    name: product.name,
    category: product.category,
    categoryId: product.categoryId,
    subCategories: [{ name: product.subCategory, id: product.subCategoryId }],
    priceList: pricings.map(({ id, name }) => ({
      priceTypeId: id,
      priceTypeName: name,
      unitPrice: product.price,
      taxRate: percentToBasisPoints(product.tax.rate),
    })),
    sku: product.sku,
  });
  const archived = createFormerProducts(restaurant).map((product) => ({
    ...toCatalogProduct(product),
    subCategories: [],
  }));
  return {
    products: [...products.map(toCatalogProduct), ...archived],
    payments: Object.values(paymentMethods).map(({ id, name }) => ({ id, name, enabled: true })),
    taxes: taxes.map(({ id, name, rate }) => ({ id, name, percentage: percentToBasisPoints(rate) })),
    modifiers: groups.map(({ id, name, modifiers }) => ({
      id,
      name,
      options: modifiers.map((modifier) => ({ id: modifier.id, name: modifier.name, price: modifier.amount })),
    })),
    categories: categories.map((category, index) => ({ ...category, index })),
  };
}

/** Returns archived products, each like a current product. */
function createFormerProducts({ products, device }: GeneratedRestaurant): GeneratedRestaurantProduct[] {
  const random = new SeededRandom(`archive/${device.id}`);
  const similarNames = { "Soupe au pistou": "Velouté de potiron", "Vin chaud": "Kir cassis" };
  return Object.entries(similarNames).flatMap(([name, similar]) =>
    products
      .filter((product) => product.name === similar)
      .map((product) => ({ ...product, id: random.uuid(), name, sku: null })),
  );
}

function uniqueById<Item extends { readonly id: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
