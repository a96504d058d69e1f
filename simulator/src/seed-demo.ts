import { setTimeout as sleep } from "node:timers/promises";
import { nullOn } from "@pragma/client/api-problem";
import { type ClientOptions, createAdminClient, createClient, type PublicClient } from "@pragma/client/create-client";
import {
  type DemoAccess,
  type DemoDay,
  daysUntilYesterday,
  demoRestaurant,
  demoTill,
  ensureDemoLocation,
} from "./demo-location.ts";
import { pushCatalogIfMissing } from "./ensure-location.ts";
import { pushTill } from "./play-day.ts";
import { generateRestaurant } from "./restaurant.ts";

interface DemoOptions extends Pick<ClientOptions, "fetch" | "wait"> {
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
export async function seedDemo(options: DemoOptions): Promise<string> {
  const { url, publicUrl = url, adminKey, file, now, showProgress, ...sending } = options;
  const client = { ...sending, baseUrl: url };
  const withKey = (apiKey: string) => createClient({ ...client, apiKey });
  const access = await ensureDemoLocation(createAdminClient({ ...client, apiKey: adminKey }), withKey, file);
  const api = withKey(access.apiKey);
  showProgress("Sending the catalogue");
  await pushCatalogIfMissing(api, generateRestaurant(demoRestaurant));
  const days = daysUntilYesterday(access.locationId, now);
  for (let first = 0; first < days.length; first += pushesAtOnce) {
    const some = days.slice(first, first + pushesAtOnce);
    await Promise.all(some.map((day) => pushIfMissing(api, access.locationId, day)));
    showProgress(`Pushing tills: ${first + some.length} of ${days.length}`);
  }
  const newestReportId = await awaitReports(api, days, options);
  return demoInstructions(publicUrl, access, newestReportId);
}

/** A day that the API has with other content, from an older version of the demo, is left as it is. */
async function pushIfMissing(api: PublicClient, locationId: string, day: DemoDay): Promise<void> {
  const known = await nullOn(api.GET("/v1/tills/{id}", { params: { path: { id: day.tillId } } }), "till_not_found");
  if (known === null) await pushTill(api, demoTill(locationId, day));
}

/** Waits until the report of each day can be read. Returns the newest one's id; throws when none is added for a minute. */
async function awaitReports(api: PublicClient, days: readonly DemoDay[], { showProgress, wait = sleep }: DemoOptions) {
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
function demoInstructions(url: string, { locationId, apiKey }: DemoAccess, newestReportId: string): string {
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

const pushesAtOnce = 3;
const pollIntervalMs = 500;
const maxQuietPolls = 120;
