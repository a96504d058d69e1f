import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import type { ApiScope } from "@pragma/contracts/scopes";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import type { GeneratedRestaurant } from "./restaurant.ts";
import { buildRestaurantCatalog } from "./restaurant-catalog.ts";

interface RestaurantLocation {
  restaurant: GeneratedRestaurant;
  /** The id of the location's organization, and also of its agency, in the legacy backoffice. */
  owner: string;
  /** The id of the location in its legacy backoffice. A location that was imported before is found by this id. */
  legacyId: number;
}

/** Imports a restaurant's location unless it exists, applies the restaurant's settings, and returns its id. */
export async function importDemoLocation(admin: AdminApiClient, location: RestaurantLocation): Promise<string> {
  const { restaurant, owner, legacyId } = location;
  const { data } = await admin.POST("/v1/locations/import", {
    body: { application: "POPINA", organizationId: owner, agencyId: owner, legacyId },
  });
  const { locale: currencyLocale, ...establishment } = restaurant.establishment;
  const locationName = establishment.establishmentName;
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: data.id } },
    body: { locationSettings: { locationName, timezone: defaultTimeZone, currencyLocale, ...establishment } },
  });
  return data.id;
}

/** Ensures that the consumer with this name exists and has these scopes and no others. */
export async function ensureApiConsumerWithScopes(
  admin: AdminApiClient,
  name: string,
  scopes: readonly ApiScope[],
): Promise<void> {
  const consumer = await findOrCreateApiConsumer(admin, name);
  if (scopes.length === consumer.scopes.length && scopes.every((scope) => consumer.scopes.includes(scope))) return;
  const params = { path: { id: consumer.id } };
  await admin.PATCH("/v1/consumers/{id}", { params, body: { scopes: [...scopes] } });
}

async function findOrCreateApiConsumer(
  admin: AdminApiClient,
  name: string,
): Promise<{ id: string; scopes: ApiScope[] }> {
  for await (const consumer of admin.items("/v1/consumers")) if (consumer.name === name) return consumer;
  return (await admin.POST("/v1/consumers", { body: { name } })).data;
}

/** Creates an API key at the location for the consumer with this name, and returns the key. */
export async function createLocationKeyThroughApi(
  admin: AdminApiClient,
  locationId: string,
  consumerName: string,
): Promise<string> {
  return (await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } })).data.apiKey;
}

/** Pushes the catalog of a restaurant to the key's location, unless the location already has products. */
export async function pushCatalogIfMissing(api: PublicApiClient, restaurant: GeneratedRestaurant): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length === 0) await api.PUT("/v1/catalog", { body: buildRestaurantCatalog(restaurant) });
}
