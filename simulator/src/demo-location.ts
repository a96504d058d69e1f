import { nullOn } from "@pragma/client/api-problem";
import type { AdminClient, PublicClient, Schemas } from "@pragma/client/create-client";
import { defaultScopes, type Scope } from "@pragma/contracts/scopes";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { type DemoAccess, readDemoFile, writeDemoFile } from "./demo-file.ts";
import { generateRestaurant } from "./restaurant.ts";

interface DemoLocationOptions {
  /** Under a key with every scope. */
  admin: AdminClient;
  /** The API under another key. */
  withKey: (apiKey: string) => PublicClient;
  /** Where the location's id and key are remembered. */
  file: string;
}

/**
 * The demo location with a key to it: what the file remembers, if the key still opens the location, else a location
 * found or made, with a new key that the file then remembers.
 */
export async function openDemoLocation({ admin, withKey, file }: DemoLocationOptions): Promise<DemoAccess> {
  // First, so that no key is remembered anywhere with fewer scopes.
  await allowConsumer(admin);
  const remembered = await readDemoFile(file);
  if (remembered && (await opens(withKey(remembered.apiKey), remembered.locationId))) return remembered;
  const locationId = await importLocation(admin);
  const { data: made } = await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } });
  const access = { locationId, apiKey: made.apiKey };
  await writeDemoFile(file, access);
  return access;
}

/** What names the demo location in its backoffice: the same at each start, so that the location is found again. */
const legacyLocation = {
  application: "POPINA",
  organizationId: "pragma-demo",
  agencyId: "pragma-demo",
  legacyId: 990_001,
} as const;

const consumerName = "Pragma demo";

/** All that is not for operators: with the demo's key every operation of the reference can be tried. */
const consumerScopes: readonly Scope[] = [
  ...defaultScopes,
  "orders:write",
  "tills:read",
  "tills:write",
  "catalog:write",
  "accounting:write",
  "webhooks:write",
  "jobs:write",
];

/** Whether the key of this client is one of the location. */
async function opens(api: PublicClient, locationId: string): Promise<boolean> {
  const reports = await nullOn(
    api.GET("/v2/reports", { params: { query: { size: 1, locationId } } }),
    "key_invalid",
    "key_revoked",
    "scope_missing",
    "location_forbidden",
    "location_not_found",
  );
  return reports !== null;
}

/** Importing again what is there gives its id. */
async function importLocation(admin: AdminClient): Promise<string> {
  const { data } = await admin.POST("/v1/locations/import", { body: legacyLocation });
  const { locale: currencyLocale, ...establishment } = generateRestaurant(demoRestaurant).establishment;
  const locationName = establishment.establishmentName;
  await admin.PATCH("/v1/locations/{id}", {
    params: { path: { id: data.id } },
    body: { locationSettings: { locationName, timezone: demoTimeZone, currencyLocale, ...establishment } },
  });
  return data.id;
}

/** Sees to it that the consumer is there and may do what the demo does. */
async function allowConsumer(admin: AdminClient): Promise<void> {
  const { id, scopes } = (await findConsumer(admin)) ?? (await createConsumer(admin));
  if (consumerScopes.every((scope) => scopes.includes(scope))) return;
  await admin.PATCH("/v1/consumers/{id}", { params: { path: { id } }, body: { scopes: [...consumerScopes] } });
}

async function createConsumer(admin: AdminClient): Promise<Schemas["Consumer"]> {
  const { data } = await admin.POST("/v1/consumers", { body: { name: consumerName } });
  return data;
}

async function findConsumer(admin: AdminClient): Promise<Schemas["Consumer"] | null> {
  for await (const consumer of admin.items("/v1/consumers")) if (consumer.name === consumerName) return consumer;
  return null;
}
