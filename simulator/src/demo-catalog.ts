import type { PublicClient } from "@pragma/client/create-client";
import { demoRestaurant } from "./demo-days.ts";
import { generateRestaurant } from "./restaurant.ts";
import { catalogOf } from "./restaurant-catalog.ts";

/** Gives the key's location the catalogue of the demo's restaurant, unless it has products: those stay. */
export async function pushMissingCatalog(api: PublicClient): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length > 0) return;
  await api.PUT("/v1/catalog", { body: catalogOf(generateRestaurant(demoRestaurant)) });
}
