import {
  fetchAllPagesAsOlderTestClient,
  fetchAsOlderTestClient,
  type OlderTestClientSettings,
} from "./field-client-api.ts";

interface Report {
  reportProducts: { productCatalogId: string | null; productQuantity: number }[];
}

interface Product {
  id: string;
  sku: string | null;
  subCategories: unknown[];
}

/**
 * Returns the quantity sold for each SKU in all listed reports, the ids of sold products that are missing from the
 * catalog, and the ids of archived products, which have no subcategories.
 */
export async function fetchSalesAsOlderClient(api: OlderTestClientSettings) {
  const catalog = await fetchAsOlderTestClient<Product[]>(api, "/v1/catalog");
  const soldById = new Map<string | null, number>();
  for (const { reportProducts } of await fetchAllPagesAsOlderTestClient<Report>(api, "/v1/reports")) {
    for (const { productCatalogId, productQuantity } of reportProducts) {
      soldById.set(productCatalogId, (soldById.get(productCatalogId) ?? 0) + productQuantity);
    }
  }
  const catalogIds = new Set<string | null>(catalog.map(({ id }) => id));
  return {
    sold: Object.fromEntries(catalog.flatMap(({ id, sku }) => (sku === null ? [] : [[sku, soldById.get(id) ?? 0]]))),
    unknown: [...soldById.keys()].filter((id) => id !== null && !catalogIds.has(id)),
    archived: catalog.filter(({ subCategories }) => subCategories.length === 0).map(({ id }) => id),
  };
}
