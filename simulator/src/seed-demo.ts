import { setTimeout as sleep } from "node:timers/promises";
import {
  type ApiClientOptions,
  createAdminApiClient,
  createApiClient,
  type PublicApiClient,
} from "@pragma/client/api-client";
import {
  type DemoDayWithTillId,
  type DemoLocationCredentials,
  demoRestaurantSeed,
  ensureDemoLocationAndKeys,
  generateDemoTill,
  listDemoDaysWithTillIds,
} from "./demo-location.ts";
import { pushCatalogIfMissing } from "./import-and-configure-location.ts";
import { generateRestaurant } from "./restaurant.ts";
import { pushGeneratedTill } from "./simulate-day.ts";

interface SeedDemoOptions extends Pick<ApiClientOptions, "fetch" | "wait"> {
  url: string;
  /** Default: `url`. */
  publicUrl?: string;
  adminKey: string;
  file: string;
  now: Date;
}

/** Creates what is missing of the demo location, its catalog and thirty tills. Returns how to read the data. */
export async function seedDemoLocationThroughApi(options: SeedDemoOptions): Promise<string> {
  const { url, publicUrl = url, adminKey, file, now, ...clientOptions } = options;
  const client = { ...clientOptions, baseUrl: url };
  const createClient = (apiKey: string) => createApiClient({ ...client, apiKey });
  const admin = createAdminApiClient({ ...client, apiKey: adminKey });
  const access = await ensureDemoLocationAndKeys(admin, createClient, file);
  const api = createClient(access.apiKey);
  await pushCatalogIfMissing(api, generateRestaurant(demoRestaurantSeed));
  const days = listDemoDaysWithTillIds(access.locationId, now);
  const missing = await findMissingDays(api, days);
  for (let first = 0; first < missing.length; first += maxConcurrentPushes) {
    const batch = missing.slice(first, first + maxConcurrentPushes);
    await Promise.all(batch.map((day) => pushGeneratedTill(api, generateDemoTill(access.locationId, day))));
  }
  const newestReportId = await awaitReports(api, days, options);
  return formatDemoInstructions(publicUrl, access, newestReportId);
}

/**
 * Returns the days whose till does not exist. An existing till remains, even if an older demo version created it
 * differently. A request for each till would fail, and be listed among the failed requests of the location.
 */
async function findMissingDays(api: PublicApiClient, days: DemoDayWithTillId[]): Promise<DemoDayWithTillId[]> {
  // A till is pushed after its day has begun.
  const query = { sinceDate: `${days.at(0)?.day}T00:00:00Z` };
  const existing = new Set<string>();
  for await (const { id } of api.items("/v1/tills", { params: { query } })) existing.add(id);
  return days.filter(({ tillId }) => !existing.has(tillId));
}

/** Waits for the report of every day. Returns the id of the newest report. Throws after a minute without a new one. */
async function awaitReports(api: PublicApiClient, days: DemoDayWithTillId[], { wait = sleep }: SeedDemoOptions) {
  const query = { since: days.at(0)?.day ?? "", until: days.at(-1)?.day ?? "" };
  let maxReady = 0;
  for (let quietPolls = 0; quietPolls < maxQuietPolls; quietPolls++) {
    const idByTillId = new Map<string, string>();
    for await (const { id, tillId } of api.items("/v2/reports", { params: { query } })) idByTillId.set(tillId, id);
    const ready = days.filter(({ tillId }) => idByTillId.has(tillId)).length;
    const newest = idByTillId.get(days.at(-1)?.tillId ?? "");
    if (ready === days.length && newest) return newest;
    if (ready > maxReady) quietPolls = 0;
    maxReady = Math.max(maxReady, ready);
    await wait(pollIntervalMs);
  }
  throw new Error(
    `Only ${maxReady} of ${days.length} reports are available, and no report was added for one minute. The tills are stored: ` +
      "their reports follow once the reporting service works again. Check its log for the cause.",
  );
}

function formatDemoInstructions(url: string, access: DemoLocationCredentials, newestReportId: string): string {
  const { locationId, apiKey } = access;
  const authorization = `-H 'authorization: Bearer ${apiKey}'`;
  return [
    `Demo location  ${locationId}`,
    `API key        ${apiKey}`,
    "",
    `curl ${authorization} '${url}/v2/reports?size=3'`,
    `curl ${authorization} '${url}/v2/reports/${newestReportId}'`,
    `curl '${url}/health'`,
  ].join("\n");
}

const maxConcurrentPushes = 3;
const pollIntervalMs = 500;
const maxQuietPolls = 120;
