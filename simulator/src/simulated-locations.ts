import type { AdminClient } from "@pragma/client/create-client";
import type { Scope } from "@pragma/contracts/scopes";
import { Random } from "./random.ts";
import { generateRestaurant, type Restaurant } from "./restaurant.ts";
import type { LegacyLocation } from "./till-v1.ts";

/** A location that was made to be played. */
export interface SimulatedLocation {
  id: string;
  legacy: LegacyLocation;
  restaurant: Restaurant;
  apiKey: string;
  /** Makes the key worthless: each play makes its own. */
  revokeKey: () => Promise<void>;
}

interface LocationPlan {
  /** Names its restaurant. */
  seed: string;
  timeZone: string;
}

/** The location of a seed, made where there is none, as its restaurant has it, with a key to play it. */
export async function openSimulatedLocation(
  admin: AdminClient,
  { seed, timeZone }: LocationPlan,
): Promise<SimulatedLocation> {
  const restaurant = generateRestaurant(seed);
  const legacy = { application: "POPINA", legacyId: new Random(`location/${seed}`).integer(1, 2 ** 31 - 1) } as const;
  const { data: location } = await admin.POST("/v1/locations/import", {
    body: { ...legacy, organizationId: owner, agencyId: owner },
  });
  const { locale: currencyLocale, ...establishment } = restaurant.establishment;
  const locationSettings = {
    locationName: establishment.establishmentName,
    timezone: timeZone,
    currencyLocale,
    ...establishment,
  };
  await admin.PATCH("/v1/locations/{id}", { params: { path: { id: location.id } }, body: { locationSettings } });
  const { data: made } = await admin.POST("/v1/auth/keys", { body: { locationId: location.id, consumerName } });
  return {
    id: location.id,
    legacy,
    restaurant,
    apiKey: made.apiKey,
    revokeKey: () => revokeKey(admin, location.id, made.apiKey),
  };
}

/** Sees to it that the consumer is there whose keys play locations, and may do what that takes. */
export async function openSimulatorConsumer(admin: AdminClient): Promise<void> {
  let id: string | undefined;
  for await (const consumer of admin.items("/v1/consumers")) if (consumer.name === consumerName) id = consumer.id;
  id ??= (await admin.POST("/v1/consumers", { body: { name: consumerName } })).data.id;
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: [...playingScopes] } });
}

async function revokeKey(admin: AdminClient, locationId: string, apiKey: string): Promise<void> {
  for await (const { id, prefix } of admin.items("/v1/auth/keys", { params: { query: { locationId } } })) {
    if (!apiKey.startsWith(prefix)) continue;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    return;
  }
}

const owner = "pragma-simulator";
const consumerName = "Pragma simulator";

/** What a key needs to play its location, with a catalogue. */
const playingScopes: readonly Scope[] = [
  "orders:read",
  "orders:write",
  "reports:read",
  "tills:read",
  "tills:write",
  "catalog:read",
  "catalog:write",
  "locations:read",
];
