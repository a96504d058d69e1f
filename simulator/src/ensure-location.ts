import type { AdminClient, PublicClient } from "@pragma/client/create-client";
import type { Scope } from "@pragma/contracts/scopes";
import type { Restaurant } from "./restaurant.ts";
import { catalogOf } from "./restaurant-catalog.ts";

interface RestaurantLocation {
  restaurant: Restaurant;
  timeZone: string;
  /** What names it in its backoffice: the same location is found again under the same. */
  owner: string;
  legacyId: number;
}

/** Imports the location of a restaurant, or finds it where it is, and gives it the restaurant's settings. Returns its id. */
export async function ensureLocation(admin: AdminClient, location: RestaurantLocation): Promise<string> {
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
export async function ensureConsumer(admin: AdminClient, name: string, scopes: readonly Scope[]): Promise<void> {
  let known: { id: string; scopes: Scope[] } | undefined;
  for await (const consumer of admin.items("/v1/consumers")) if (consumer.name === name) known = consumer;
  const { id, scopes: allowed } = known ?? (await admin.POST("/v1/consumers", { body: { name } })).data;
  if (scopes.every((scope) => allowed.includes(scope))) return;
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: [...scopes] } });
}

/** Creates a key to the location for the consumer of this name, and returns it. */
export async function createKey(admin: AdminClient, locationId: string, consumerName: string): Promise<string> {
  return (await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } })).data.apiKey;
}

/** Gives the key's location the catalogue of a restaurant, unless it has products: those stay. */
export async function pushCatalogIfMissing(api: PublicClient, restaurant: Restaurant): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length === 0) await api.PUT("/v1/catalog", { body: catalogOf(restaurant) });
}
