import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import type { ApiScope } from "@pragma/contracts/scopes";
import { defaultTimeZone } from "@pragma/contracts/time-zone";
import type { GeneratedRestaurant } from "./restaurant.ts";
import { buildRestaurantCatalog } from "./restaurant-catalog.ts";

/**
 * Imports a restaurant's location unless it exists, applies the restaurant's settings, and returns its id. `owner` is the
 * id of its organization and agency. A location that was imported before is found by its id in the legacy backoffice.
 */
export async function importDemoLocation(
  admin: AdminApiClient,
  { restaurant, owner, legacyId }: { restaurant: GeneratedRestaurant; owner: string; legacyId: number },
): Promise<string> {
  const { data } = await admin.POST("/v1/locations/import", {
    body: { application: "POPINA", organizationId: owner, agencyId: owner, legacyId },
  });
  const params = { path: { id: data.id } };
  await admin.PATCH("/v1/locations/{id}", { params, body: { locationSettings: buildLocationSettings(restaurant) } });
  return data.id;
}

/** Returns the settings of a restaurant's location. */
export function buildLocationSettings({ establishment: { locale: currencyLocale, ...header } }: GeneratedRestaurant) {
  return { locationName: header.establishmentName, timezone: defaultTimeZone, currencyLocale, ...header };
}

/** Ensures that the consumer with this name exists and has these scopes and no others. Returns its id. */
export async function ensureApiConsumerWithScopes(admin: AdminApiClient, name: string, scopes: readonly ApiScope[]) {
  const { id, scopes: granted } = await findOrCreateApiConsumer(admin, name);
  const isUpToDate = scopes.length === granted.length && scopes.every((scope) => granted.includes(scope));
  if (!isUpToDate) await admin.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: [...scopes] } });
  return id;
}

async function findOrCreateApiConsumer(admin: AdminApiClient, name: string): Promise<{ id: string; scopes: string[] }> {
  const find = async () => {
    for await (const consumer of admin.items("/v1/consumers", { params: { query: { name } } }))
      if (consumer.name === name) return consumer;
    return undefined;
  };
  const existing = await find();
  if (existing) return existing;
  const created = await nullOnProblem(admin.POST("/v1/consumers", { body: { name } }), "consumer_exists");
  // Another program has created it in the meantime.
  const consumer = created?.data ?? (await find());
  if (!consumer) throw new Error(`The consumer ${name} belongs to a location.`);
  return consumer;
}

/** Pushes the catalog of a restaurant to the key's location, unless the location already has products. */
export async function pushCatalogIfMissing(api: PublicApiClient, restaurant: GeneratedRestaurant): Promise<void> {
  const { data: products } = await api.GET("/v1/catalog");
  if (products.length === 0) await api.PUT("/v1/catalog", { body: buildRestaurantCatalog(restaurant) });
}
