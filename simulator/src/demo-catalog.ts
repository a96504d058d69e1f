import { CatalogProduct, ReplacedCatalog } from "@pragma/contracts/catalog";
import { z } from "zod";
import { demoRestaurant } from "./demo-days.ts";
import type { PublicApi } from "./public-api.ts";
import { generateRestaurant } from "./restaurant.ts";
import { catalogOf } from "./restaurant-catalog.ts";

const path = "/v1/catalog/";

/** Gives the key's location the catalogue of the demo's restaurant, unless it has products: those stay. */
export async function pushMissingCatalog(api: PublicApi): Promise<void> {
  const products = await api.call({ path, reply: z.array(CatalogProduct) });
  if (products.length > 0) return;
  const body = catalogOf(generateRestaurant(demoRestaurant));
  await api.call({ method: "PUT", path, body, reply: ReplacedCatalog });
}
