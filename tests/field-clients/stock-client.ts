import { fetchAllPagesAsOlderClient, fetchAsOlderClient, type OlderClientApiSettings } from "./field-client-api.ts";

interface Report {
  reportProducts: { productCatalogId: string | null; productQuantity: number }[];
}

interface Product {
  id: string;
  sku: string | null;
  subCategories: unknown[];
}

/** Returns the quantity sold in a period for each product that has a SKU. */
export async function fetchSoldQuantitiesBySku(api: OlderClientApiSettings) {
  const catalog = await fetchAsOlderClient<Product[]>(api, "/v1/catalog");
  const soldById = new Map<string | null, number>();
  for (const { reportProducts } of await fetchAllPagesAsOlderClient<Report>(api, "/v1/reports")) {
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
