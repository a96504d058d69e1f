import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AdminApiClient, PublicApiClient } from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import { defaultConsumerScopes } from "@pragma/contracts/scopes";
import { Temporal } from "temporal-polyfill";
import { z } from "zod";
import { createLocationKey, ensureConsumer, ensureLocation } from "./ensure-location.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { localDateAt, openingTimeMs } from "./service-day.ts";

/** The time zone of the demo location. */
export const demoTimeZone = "Europe/Paris";

/** The seed of the demo location's restaurant. */
export const demoRestaurantSeed = "demo";

const demoDayCount = 30;

/** One day of the demo location. */
export interface DemoDay {
  /** YYYY-MM-DD, in the location's time zone. */
  readonly day: string;
  readonly tillId: string;
  /** When its till is opened, in milliseconds: a report's `startedAt`. */
  readonly startsAt: number;
}

/** The thirty days of a location that end yesterday, oldest first. */
export function listDemoDays(locationId: string, now: Date): DemoDay[] {
  const today = localDateAt(now.getTime(), demoTimeZone);
  return Array.from({ length: demoDayCount }, (_, index) => {
    const day = today.subtract({ days: demoDayCount - index }).toString();
    return { day, tillId: createDayRandom(locationId, day).uuid(), startsAt: openingTimeMs(day, demoTimeZone) };
  });
}

/** The till of a day: 40 to 80 orders, most on Fridays and at the weekend. Always the same for a location and a day. */
export function generateDemoTill(locationId: string, { day, tillId }: DemoDay) {
  const isBusy = Temporal.PlainDate.from(day).dayOfWeek >= 5;
  const orders = createDayRandom(locationId, day)
    .fork("orders")
    .integer(isBusy ? 60 : 40, isBusy ? 80 : 60);
  return generateTill({ seed: demoRestaurantSeed, orders, day, timeZone: demoTimeZone, tillId });
}

/** The day of the demo's restaurant that the documentation draws: a Saturday. */
export const homePageDay = "2026-05-30";

/** The till of the demo's restaurant on a day, as the documentation shows it: always the same, whenever it is made. */
export function generateExampleTill(day: string): GeneratedTill {
  return generateTill({ seed: demoRestaurantSeed, orders: 60, day, timeZone: demoTimeZone });
}

function createDayRandom(locationId: string, day: string): Random {
  return new Random(`demo/${locationId}/${day}`);
}

/** What the programs of the demo need to know. */
export const demoEnvironmentSchema = z.object({
  /** Where the API answers. */
  PRAGMA_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4000"),
  /** Where the location's id and key are remembered. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

const demoAccessSchema = z.object({ locationId: z.guid(), apiKey: z.string().min(1) });

/** The demo location and its key, which the API shows only once. */
export type DemoAccess = z.infer<typeof demoAccessSchema>;

/**
 * The demo location with a key to it: what the file holds, if the key still opens the location, else the location found
 * or imported, with a new key that the file then holds. Calls are made under a key with every scope, and `withKey` those
 * under another.
 */
export async function ensureDemoLocation(
  admin: AdminApiClient,
  withKey: (apiKey: string) => PublicApiClient,
  file: string,
): Promise<DemoAccess> {
  // First, so that no key is kept anywhere with fewer scopes.
  await ensureConsumer(admin, demoConsumerName, demoConsumerScopes);
  const known = await readDemoAccess(file);
  if (known) {
    const own = withKey(known.apiKey).GET("/v1/locations/own");
    if ((await nullOnProblem(own, "key_invalid", "key_revoked"))?.data.id === known.locationId) return known;
  }
  const locationId = await ensureLocation(admin, {
    restaurant: generateRestaurant(demoRestaurantSeed),
    timeZone: demoTimeZone,
    owner: "pragma-demo",
    legacyId: 990_001,
  });
  const access = { locationId, apiKey: await createLocationKey(admin, locationId, demoConsumerName) };
  await writeDemoAccess(file, access);
  return access;
}

/** What the file remembers; null when there is no such file, or when it is broken. */
export async function readDemoAccess(file: string): Promise<DemoAccess | null> {
  try {
    return demoAccessSchema.parse(JSON.parse(await readFile(file, "utf8")));
  } catch (error) {
    if (
      error instanceof z.ZodError ||
      error instanceof SyntaxError ||
      (error as NodeJS.ErrnoException).code === "ENOENT"
    )
      return null;
    throw error;
  }
}

/** Remembers the access in a file that only its owner may read. It appears whole or not at all. */
export async function writeDemoAccess(file: string, access: DemoAccess): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${JSON.stringify(access, undefined, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

const demoConsumerName = "Pragma demo";

/** All that is not for operators: with the demo's key every operation of the reference can be tried. */
const demoConsumerScopes = [
  ...defaultConsumerScopes,
  "orders:write",
  "tills:read",
  "tills:write",
  "catalog:write",
  "accounting:write",
  "webhooks:write",
  "jobs:write",
] as const;
