import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import type { Catalog } from "@pragma/contracts/catalog";
import { percentToBasisPoints } from "@pragma/contracts/money";
import type { Scope } from "@pragma/contracts/scopes";
import { Random } from "./random.ts";
import type { Product, Restaurant } from "./restaurant.ts";

interface RestaurantLocation {
  restaurant: Restaurant;
  timeZone: string;
  /** What names it in its backoffice: the same location is found again under the same. */
  owner: string;
  legacyId: number;
}

/** Imports the location of a restaurant, or finds it where it is, and gives it the restaurant's settings. Returns its id. */
export async function ensureLocation(admin: AdminApiClient, location: RestaurantLocation): Promise<string> {
  const { restaurant, timeZone, owner, legacyId } = location;
  const { data } = await admin.POST("/v1/locations/import", {
    body: { application: "POPINA", organizationId: owner, agencyId: owner, legacyId },
  });
  const { locale: currencyLocale, ...establishment } = restaurant.establishment;
  const locationName = establishment.establishmentName;
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: data.id } },
    body: { locationSettings: { locationName, timezone: timeZone, currencyLocale, ...establishment } },
  });
  return data.id;
}

/** Makes sure that the consumer of this name exists and has these scopes. */
export async function ensureConsumer(admin: AdminApiClient, name: string, scopes: readonly Scope[]): Promise<void> {
  let known: { id: string; scopes: Scope[] } | undefined;
  for await (const consumer of admin.items("/v1/consumers")) if (consumer.name === name) known = consumer;
  const { id, scopes: allowed } = known ?? (await admin.POST("/v1/consumers", { body: { name } })).data;
  if (scopes.every((scope) => allowed.includes(scope))) return;
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: [...scopes] } });
}

/** Creates a key to the location for the consumer of this name, and returns it. */
export async function createLocationKey(
  admin: AdminApiClient,
  locationId: string,
  consumerName: string,
): Promise<string> {
  return (await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } })).data.apiKey;
}

/** Gives the key's location the catalogue of a restaurant, unless it has products: those stay. */
export async function pushCatalogIfMissing(api: PublicApiClient, restaurant: Restaurant): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length === 0) await api.PUT("/v1/catalog", { body: createRestaurantCatalog(restaurant) });
}

/**
 * What a restaurant's point of sale says of it: under the ids that its tills name, whatever they sell and however they
 * are paid; and two products that it sold once, which are archived.
 */
export function createRestaurantCatalog(restaurant: Restaurant): Catalog {
  const { products, rooms, paymentMethods } = restaurant;
  const taxes = uniqueById(products.map(({ tax }) => tax));
  const groups = uniqueById(products.flatMap(({ modifierGroups }) => modifierGroups));
  const categories = uniqueById(products.map(({ categoryId, category }) => ({ id: categoryId, name: category })));
  const pricings = uniqueById(rooms.map(({ pricing }) => pricing));
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
      taxRate: percentToBasisPoints(product.tax.rate),
    })),
    sku: product.sku,
  });
  const archived = createFormerProducts(restaurant).map((product) => ({ ...describe(product), subCategories: [] }));
  return {
    products: [...products.map(describe), ...archived],
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

/** What was on the card in other seasons, where something similar is now. */
const formerProductNames = { "Soupe au pistou": "Velouté de potiron", "Vin chaud": "Kir cassis" };

function createFormerProducts({ products, device }: Restaurant): Product[] {
  const random = new Random(`archive/${device.id}`);
  return Object.entries(formerProductNames).flatMap(([name, similar]) =>
    products
      .filter((product) => product.name === similar)
      .map((product) => ({ ...product, id: random.uuid(), name, sku: null })),
  );
}

function uniqueById<Item extends { readonly id: string }>(items: readonly Item[]): Item[] {
  return [...new Map(items.map((item) => [item.id, item])).values()];
}
