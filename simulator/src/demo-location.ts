import { CreatedApiKey } from "@pragma/contracts/api-key";
import { Consumer } from "@pragma/contracts/consumer";
import { CreatedLocation } from "@pragma/contracts/location";
import { pageOf } from "@pragma/contracts/pagination";
import { defaultScopes, type Scope } from "@pragma/contracts/scopes";
import { z } from "zod";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { type DemoAccess, readDemoFile, writeDemoFile } from "./demo-file.ts";
import type { PublicApi } from "./public-api.ts";
import { generateRestaurant } from "./restaurant.ts";

/**
 * The demo location with a key to it: what the file remembers, if the key still opens the location, else a location
 * found or made, with a new key that the file then remembers. `admin` needs every scope.
 */
export async function openDemoLocation(admin: PublicApi, file: string): Promise<DemoAccess> {
  // First, so that no key is remembered anywhere with fewer scopes.
  await allowConsumer(admin);
  const remembered = await readDemoFile(file);
  if (remembered && (await isOpen(admin, remembered))) return remembered;
  const locationId = await importLocation(admin);
  const { apiKey } = await admin.call({
    method: "POST",
    path: "/v1/auth/keys/",
    body: { locationId, consumerName },
    reply: CreatedApiKey,
  });
  const access = { locationId, apiKey };
  await writeDemoFile(file, access);
  return access;
}

/** What names the demo location in its backoffice: the same at each start, so that the location is found again. */
const legacyLocation = {
  application: "POPINA",
  organizationId: "pragma-demo",
  agencyId: "pragma-demo",
  legacyId: 990_001,
};

const consumerName = "Pragma demo";

/** Reading, as every new consumer may, and what a point of sale sends. */
const consumerScopes: readonly Scope[] = [...defaultScopes, "tills:read", "tills:write", "catalog:write"];

async function isOpen(admin: PublicApi, { locationId, apiKey }: DemoAccess): Promise<boolean> {
  const path = `/v2/reports/?size=1&locationId=${locationId}`;
  const reports = await admin.withKey(apiKey).callUnless([401, 403, 404], { path, reply: pageOf(z.unknown()) });
  return reports !== null;
}

/** Importing again what is there gives its id. */
async function importLocation(admin: PublicApi): Promise<string> {
  const { id } = await admin.call({
    method: "POST",
    path: "/v1/locations/import",
    body: legacyLocation,
    reply: CreatedLocation,
  });
  const { locale: currencyLocale, ...establishment } = generateRestaurant(demoRestaurant).establishment;
  const locationName = establishment.establishmentName;
  await admin.call({
    method: "PATCH",
    path: `/v1/locations/${id}`,
    body: { locationSettings: { locationName, timezone: demoTimeZone, currencyLocale, ...establishment } },
    reply: z.unknown(),
  });
  return id;
}

/** Sees to it that the consumer is there and may do what the demo does. */
async function allowConsumer(admin: PublicApi): Promise<void> {
  const { id, scopes } = (await findConsumer(admin)) ?? (await createConsumer(admin));
  if (consumerScopes.every((scope) => scopes.includes(scope))) return;
  const body = { scopes: consumerScopes };
  await admin.call({ method: "PATCH", path: `/v1/consumers/${id}`, body, reply: z.unknown() });
}

function createConsumer(admin: PublicApi): Promise<Consumer> {
  return admin.call({ method: "POST", path: "/v1/consumers/", body: { name: consumerName }, reply: Consumer });
}

async function findConsumer(admin: PublicApi): Promise<Consumer | null> {
  const first = "/v1/consumers/?size=100";
  const reply = pageOf(Consumer);
  for (let path: string | null = first; path; ) {
    const { data, nextPageToken }: z.infer<typeof reply> = await admin.call({ path, reply });
    const found = data.find(({ name }) => name === consumerName);
    if (found) return found;
    path = nextPageToken && `${first}&pageToken=${encodeURIComponent(nextPageToken)}`;
  }
  return null;
}
