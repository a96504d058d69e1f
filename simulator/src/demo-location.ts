import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { nullOn } from "@pragma/client/api-problem";
import type { AdminClient, PublicClient } from "@pragma/client/create-client";
import { defaultScopes } from "@pragma/contracts/scopes";
import { z } from "zod";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { createKey, ensureConsumer, ensureLocation } from "./ensure-location.ts";
import { generateRestaurant } from "./restaurant.ts";

/** What the programs of the demo need to know. */
export const demoEnvironment = z.object({
  /** Where the API answers. */
  PRAGMA_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4000"),
  /** Where the location's id and key are remembered. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

const demoAccess = z.object({ locationId: z.guid(), apiKey: z.string().min(1) });

/** The demo location and its key, which the API shows only once. */
export type DemoAccess = z.infer<typeof demoAccess>;

/**
 * The demo location with a key to it: what the file holds, if the key still opens the location, else the location found
 * or imported, with a new key that the file then holds. Calls are made under a key with every scope, and `withKey` those
 * under another.
 */
export async function ensureDemoLocation(
  admin: AdminClient,
  withKey: (apiKey: string) => PublicClient,
  file: string,
): Promise<DemoAccess> {
  // First, so that no key is kept anywhere with fewer scopes.
  await ensureConsumer(admin, consumerName, consumerScopes);
  const known = await readDemoFile(file);
  if (known) {
    const own = withKey(known.apiKey).GET("/v1/locations/own");
    if ((await nullOn(own, "key_invalid", "key_revoked"))?.data.id === known.locationId) return known;
  }
  const locationId = await ensureLocation(admin, {
    restaurant: generateRestaurant(demoRestaurant),
    timeZone: demoTimeZone,
    owner: "pragma-demo",
    legacyId: 990_001,
  });
  const access = { locationId, apiKey: await createKey(admin, locationId, consumerName) };
  await writeDemoFile(file, access);
  return access;
}

/** What the file remembers; null when there is no such file, or when it is broken. */
export async function readDemoFile(file: string): Promise<DemoAccess | null> {
  try {
    return demoAccess.parse(JSON.parse(await readFile(file, "utf8")));
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
export async function writeDemoFile(file: string, access: DemoAccess): Promise<void> {
  const unfinished = `${file}.unfinished`;
  await mkdir(dirname(file), { recursive: true });
  await rm(unfinished, { force: true });
  await writeFile(unfinished, `${JSON.stringify(access, undefined, 2)}\n`, { mode: 0o600 });
  await rename(unfinished, file);
}

const consumerName = "Pragma demo";

/** All that is not for operators: with the demo's key every operation of the reference can be tried. */
const consumerScopes = [
  ...defaultScopes,
  "orders:write",
  "tills:read",
  "tills:write",
  "catalog:write",
  "accounting:write",
  "webhooks:write",
  "jobs:write",
] as const;
