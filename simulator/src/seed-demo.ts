import { setTimeout as sleep } from "node:timers/promises";
import {
  type ApiClientOptions,
  createAdminApiClient,
  createApiClient,
  type PublicApiClient,
} from "@pragma/client/api-client";
import { nullOnProblem } from "@pragma/client/api-problem";
import {
  type DemoAccess,
  type DemoDay,
  demoRestaurantSeed,
  ensureDemoLocation,
  generateDemoTill,
  listDemoDays,
} from "./demo-location.ts";
import { pushCatalogIfMissing } from "./ensure-location.ts";
import { generateRestaurant } from "./restaurant.ts";
import { pushTill } from "./simulate-day.ts";

interface SeedDemoOptions extends Pick<ApiClientOptions, "fetch" | "wait"> {
  /** Where the API answers, such as http://localhost:4000. */
  url: string;
  /** The same for the reader of the story. */
  publicUrl?: string;
  /** A key with every scope. */
  adminKey: string;
  /** Where the location's id and key are kept. */
  file: string;
  now: Date;
  /** Given what goes on, and how far it is. */
  showProgress: (text: string) => void;
}

/**
 * Makes the demo location where the installation has none, gives it a catalogue and the tills of the thirty days until
 * yesterday, and waits for their reports. What is there already stays. Returns the text that says how to read it.
 */
export async function seedDemo(options: SeedDemoOptions): Promise<string> {
  const { url, publicUrl = url, adminKey, file, now, showProgress, ...sending } = options;
  const client = { ...sending, baseUrl: url };
  const withKey = (apiKey: string) => createApiClient({ ...client, apiKey });
  const access = await ensureDemoLocation(createAdminApiClient({ ...client, apiKey: adminKey }), withKey, file);
  const api = withKey(access.apiKey);
  showProgress("Sending the catalogue");
  await pushCatalogIfMissing(api, generateRestaurant(demoRestaurantSeed));
  const days = listDemoDays(access.locationId, now);
  for (let first = 0; first < days.length; first += maxConcurrentPushes) {
    const some = days.slice(first, first + maxConcurrentPushes);
    await Promise.all(some.map((day) => pushDemoTillIfMissing(api, access.locationId, day)));
    showProgress(`Pushing tills: ${first + some.length} of ${days.length}`);
  }
  const newestReportId = await awaitReports(api, days, options);
  return formatDemoInstructions(publicUrl, access, newestReportId);
}

/** A day that the API has with other content, from an older version of the demo, is left as it is. */
async function pushDemoTillIfMissing(api: PublicApiClient, locationId: string, day: DemoDay): Promise<void> {
  const known = await nullOnProblem(
    api.GET("/v1/tills/{id}", { params: { path: { id: day.tillId } } }),
    "till_not_found",
  );
  if (known === null) await pushTill(api, generateDemoTill(locationId, day));
}

/** Waits until the report of each day can be read. Returns the newest one's id; throws when none is added for a minute. */
async function awaitReports(
  api: PublicApiClient,
  days: readonly DemoDay[],
  { showProgress, wait = sleep }: SeedDemoOptions,
) {
  const query = { since: days.at(0)?.day ?? "", until: days.at(-1)?.day ?? "" };
  let max = 0;
  for (let quietPolls = 0; quietPolls < maxQuietPolls; quietPolls++) {
    const idByStart = new Map<number, string>();
    for await (const { id, startedAt } of api.items("/v2/reports", { params: { query } }))
      idByStart.set(Date.parse(startedAt), id);
    const ready = days.filter(({ startsAt }) => idByStart.has(startsAt)).length;
    const newest = idByStart.get(days.at(-1)?.startsAt ?? 0);
    if (ready === days.length && newest) return newest;
    if (ready > max) quietPolls = 0;
    max = Math.max(max, ready);
    showProgress(`Computing reports: ${ready} of ${days.length}`);
    await wait(pollIntervalMs);
  }
  throw new Error(
    `Only ${max} of ${days.length} reports can be read, and none was added for a minute. The tills are safe: their ` +
      "reports follow once the reporting service works again. Its log says what holds it up.",
  );
}

/** The demo location's id, its key, and three commands that work when pasted into a shell. */
function formatDemoInstructions(url: string, { locationId, apiKey }: DemoAccess, newestReportId: string): string {
  const authorization = `-H 'authorization: Bearer ${apiKey}'`;
  return [
    `Demo location  ${locationId}`,
    `API key        ${apiKey}`,
    "",
    `curl ${authorization} '${url}/v2/reports/'`,
    `curl ${authorization} '${url}/v2/reports/${newestReportId}'`,
    `curl '${url}/health/'`,
  ].join("\n");
}

const maxConcurrentPushes = 3;
const pollIntervalMs = 500;
const maxQuietPolls = 120;
