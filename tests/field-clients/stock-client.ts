import { type FieldClientApi, fetchAllPages, fetchFieldApi } from "./field-client-api.ts";

interface Report {
  reportProducts: { productCatalogId: string | null; productQuantity: number }[];
}

interface Product {
  id: string;
  sku: string | null;
  subCategories: unknown[];
}

/** Takes what was sold in a period out of stock: so many of each product that has a stock keeping unit. */
export async function countSoldProducts(api: FieldClientApi) {
  const catalog = await fetchFieldApi<Product[]>(api, "/v1/catalog");
  const soldById = new Map<string | null, number>();
  for (const { reportProducts } of await fetchAllPages<Report>(api, "/v1/reports")) {
    for (const { productCatalogId, productQuantity } of reportProducts) {
      soldById.set(productCatalogId, (soldById.get(productCatalogId) ?? 0) + productQuantity);
    }
  }
  const known = new Set<string | null>(catalog.map(({ id }) => id));
  return {
    sold: Object.fromEntries(catalog.flatMap(({ id, sku }) => (sku === null ? [] : [[sku, soldById.get(id) ?? 0]]))),
    unknown: [...soldById.keys()].filter((id) => id !== null && !known.has(id)),
    archived: catalog.filter(({ subCategories }) => subCategories.length === 0).map(({ id }) => id),
  };
}
