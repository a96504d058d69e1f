import type { PublicClient } from "@pragma/client/create-client";
import type { Restaurant } from "./restaurant.ts";
import { catalogOf } from "./restaurant-catalog.ts";

/** Gives the key's location the catalogue of a restaurant, unless it has products: those stay. */
export async function pushMissingCatalog(api: PublicClient, restaurant: Restaurant): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length > 0) return;
  await api.PUT("/v1/catalog", { body: catalogOf(restaurant) });
}
