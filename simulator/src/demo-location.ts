import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import type { SandboxProblem } from "@pragma/contracts/sandbox";
import { type ApiScope, defaultApiConsumerScopes } from "@pragma/contracts/scopes";
import { Temporal } from "temporal-polyfill";
import { z } from "zod";
import { breakDemoTill, demoDayCount, findDemoDayProblem, getDemoReportNumber } from "./demo-day-cases.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { ensureApiConsumerWithScopes, importDemoLocation } from "./import-and-configure-location.ts";
import { SeededRandom } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { getLocalDate } from "./service-day.ts";

export const demoRestaurantSeed = "demo";

export type DemoDayWithTillId = ReturnType<typeof listDemoDaysWithTillIds>[number];

/** Returns the thirty days before today, oldest first. Each day has the id of the location's till. */
export function listDemoDaysWithTillIds(locationId: string, now: Date) {
  const today = getLocalDate(now.getTime());
  return Array.from({ length: demoDayCount }, (_, index) => {
    const day = today.subtract({ days: demoDayCount - index }).toString();
    return { day, tillId: createDayRandom(locationId, day).uuid() };
  });
}

/**
 * Returns the till of a day, with 60 to 80 orders from Friday to Sunday, otherwise 40 to 60, or a share of them. Fails a
 * check if the day has a problem, by default that of a demo day.
 */
export function generateDemoTill(
  locationId: string,
  { day, tillId }: DemoDayWithTillId,
  { share = 1, problem = findDemoDayProblem(day) }: { share?: number; problem?: SandboxProblem | undefined } = {},
) {
  const isBusy = Temporal.PlainDate.from(day).dayOfWeek >= 5;
  const fullCount = createDayRandom(locationId, day)
    .fork("orders")
    .integer(isBusy ? 60 : 40, isBusy ? 80 : 60);
  const orders = Math.round(fullCount * share);
  const till = generateTill({
    ...{ seed: demoRestaurantSeed, orders, day, tillId },
    ...{ reportNumber: getDemoReportNumber(day), isCashCounted: true, mix: correctDayMix(orders) },
  });
  return problem ? breakDemoTill(till, problem) : till;
}

/** Leaves out what a check of a day finds: refunds, and cancellations after the bill. One order is canceled before it. */
export const correctDayMix = (orders: number) => ({
  ...{ canceledOrder: 1 / orders, canceledRow: 0, canceledMenu: 0, refundOrder: 0, refundRow: 0 },
});

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
 * Returns the id and the API keys of the demo location: those in the file if its keys are valid, otherwise those of the
 * location that it imports, which it writes to the file. `createClient` returns a client with the given key.
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
  const createKey = async (consumerName: string) =>
    (await admin.POST("/v1/auth/keys", { body: { locationId, consumerName } })).data.apiKey;
  const [apiKey, siteApiKey] = [await createKey(demoConsumerName), await createKey(demoSiteConsumerName)];
  const access = { locationId, apiKey, siteApiKey };
  await writeDemoLocationCredentials(file, access);
  return access;
}

const demoSiteConsumerName = "Pragma demo site";

/** The scopes of the key that the home page of the documentation uses. All readers of the page receive this key. */
const demoSiteConsumerScopes = ["reports:read", "locations:read"] as const;

const demoConsumerName = "Pragma demo";

/** All scopes of the public API, so that users can try every operation of the API reference with the key. */
export const demoConsumerScopes: readonly ApiScope[] = [
  ...defaultApiConsumerScopes,
  "orders:write",
  "tills:read",
  "tills:write",
  "catalog:write",
  "accounting:write",
  "webhooks:write",
  "jobs:write",
];

/** The URL of an API or a site, without a trailing slash. */
export const baseUrlSchema = z.url({ protocol: /^https?$/ }).transform((url) => url.replace(/\/+$/, ""));

export const demoEnvironmentVariablesSchema = z.object({
  PRAGMA_URL: baseUrlSchema.default("http://127.0.0.1:4000"),
  /** The path of the demo file, which contains the id and the API key of the demo location. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

const demoAccessSchema = z.object({
  locationId: z.guid(),
  apiKey: z.string().min(1),
  /** A key that can only read reports and the name of the location. */
  siteApiKey: z.string().min(1),
});

/** The id of the demo location and its API keys, which the API shows only once. */
export type DemoLocationCredentials = z.infer<typeof demoAccessSchema>;

/** Returns the content of the demo file; null if the file does not exist or is invalid. */
export async function readDemoLocationCredentials(file: string): Promise<DemoLocationCredentials | null> {
  try {
    return demoAccessSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    if (isMissing || error instanceof z.ZodError || error instanceof SyntaxError) return null;
    throw error;
  }
}

/** Writes the demo file atomically. Only the owner of the file can read it. */
export async function writeDemoLocationCredentials(file: string, access: DemoLocationCredentials): Promise<void> {
  const temporaryFile = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  await rm(temporaryFile, { force: true });
  await writeFile(temporaryFile, `${JSON.stringify(access, undefined, 2)}\n`, { mode: 0o600 });
  await rename(temporaryFile, file);
}
