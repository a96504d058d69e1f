import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import { defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import { Temporal } from "temporal-polyfill";
import { applyDemoDayCase } from "./demo-day-cases.ts";
import {
  type DemoLocationCredentials,
  readDemoLocationCredentials,
  writeDemoLocationCredentials,
} from "./demo-location-credentials.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import {
  createLocationKeyThroughApi,
  ensureApiConsumerWithScopes,
  importDemoLocation,
} from "./import-and-configure-location.ts";
import { SeededRandom } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { computeDailyTillOpeningMs, getLocalDate } from "./service-day.ts";

/** The seed from which the restaurant of the demo location is generated. */
export const demoRestaurantSeed = "demo";

const demoDayCount = 30;

/** A day for which the demo location has a till. */
export interface DemoDayTillIdAndStart {
  /** YYYY-MM-DD, in the location's time zone. */
  readonly day: string;
  readonly tillId: string;
  /** The time at which the till is opened, in milliseconds since 1970. It is the `startedAt` of the report. */
  readonly startsAtMs: number;
}

/** Returns the thirty days before today, oldest first. Each day has the id of the location's till. */
export function listDemoDaysWithTillIds(locationId: string, now: Date): DemoDayTillIdAndStart[] {
  const today = getLocalDate(now.getTime());
  return Array.from({ length: demoDayCount }, (_, index) => {
    const day = today.subtract({ days: demoDayCount - index }).toString();
    return {
      day,
      tillId: createDayRandom(locationId, day).uuid(),
      startsAtMs: computeDailyTillOpeningMs(day),
    };
  });
}

/**
 * Returns the till of a day, which depends only on the location and the day. It has 60 to 80 orders from Friday to
 * Sunday, and 40 to 60 orders on other days. On some days, one check of the business day fails.
 */
export function generateDemoTill(locationId: string, { day, tillId }: DemoDayTillIdAndStart) {
  const isBusy = Temporal.PlainDate.from(day).dayOfWeek >= 5;
  const orders = createDayRandom(locationId, day)
    .fork("orders")
    .integer(isBusy ? 60 : 40, isBusy ? 80 : 60);
  const till = generateTill({ seed: demoRestaurantSeed, orders, day, tillId });
  return applyDemoDayCase(day, till);
}

/** The day that the home page of the documentation shows. It is a Saturday. */
export const documentationHomePageDay = "2026-05-30";

/** Returns the till of the demo restaurant that the documentation shows for a day. Depends only on the day. */
export function generateExampleTill(day: string): GeneratedTill {
  return generateTill({ seed: demoRestaurantSeed, orders: 60, day });
}

function createDayRandom(locationId: string, day: string): SeededRandom {
  return new SeededRandom(`demo/${locationId}/${day}`);
}

/**
 * Returns the id and the API keys of the demo location. Uses the values in the file if the keys are still valid.
 * Otherwise, imports the location unless it exists, creates new keys, and writes all to the file. `createClient` returns
 * a client that uses the given key.
 */
export async function ensureDemoLocationAndKeys(
  admin: AdminApiClient,
  createClient: (apiKey: string) => PublicApiClient,
  file: string,
): Promise<DemoLocationCredentials> {
  // Also run if the stored keys are valid, because an older version may have created their consumers with other scopes.
  await ensureApiConsumerWithScopes(admin, demoConsumerName, demoConsumerScopes);
  await ensureApiConsumerWithScopes(admin, demoSiteConsumerName, demoSiteConsumerScopes);
  const stored = await readDemoLocationCredentials(file);
  const isStoredKey = async (key: string) => {
    const ownLocation = await nullOnProblem(createClient(key).GET("/v1/locations/own"), "key_invalid", "key_revoked");
    return ownLocation?.data.id === stored?.locationId;
  };
  if (stored && (await isStoredKey(stored.apiKey)) && (await isStoredKey(stored.siteApiKey))) return stored;

  const locationId = await importDemoLocation(admin, {
    restaurant: generateRestaurant(demoRestaurantSeed),
    owner: "pragma-demo",
    legacyId: 990_001,
  });
  const createKey = (consumerName: string) => createLocationKeyThroughApi(admin, locationId, consumerName);
  const access = {
    locationId,
    apiKey: await createKey(demoConsumerName),
    siteApiKey: await createKey(demoSiteConsumerName),
  };
  await writeDemoLocationCredentials(file, access);
  return access;
}

const demoSiteConsumerName = "Pragma demo site";

/** The scopes of the key that the home page of the documentation uses. All readers of the page receive this key. */
const demoSiteConsumerScopes = ["reports:read", "locations:read"] as const;

const demoConsumerName = "Pragma demo";

/** All scopes of the public API, so that users can try every operation of the API reference with the demo key. */
const demoConsumerScopes = [
  ...defaultApiConsumerScopes,
  "orders:write",
  "tills:read",
  "tills:write",
  "catalog:write",
  "accounting:write",
  "webhooks:write",
  "jobs:write",
] as const;
