import { type AdminApiClient, createAdminApiClient, createApiClient } from "@pragma/client/api-client";
import { Temporal } from "temporal-polyfill";
import { createLocationKey, ensureConsumer, ensureLocation, pushCatalogIfMissing } from "./ensure-location.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { scheduleAtOriginalTimes, scheduleAtPlayedTimes } from "./order-revisions.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { localDateAt } from "./service-day.ts";
import {
  closeInterruptedTills,
  findDeviceLiveOrders,
  pushTill,
  type SimulatedDay,
  type SimulationContext,
  simulateDay,
} from "./simulate-day.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import { createTransientRetryOptions } from "./transient-retry-options.ts";

type SimulationControl = Pick<SimulationContext, "clock" | "signal" | "log">;

/** A location to be played, under a seed of its own: each has its own restaurant. */
interface SimulatedLocation {
  seed: string;
  locationId: string;
  apiKey: string;
}

/** Plays what the options ask for: the locations of their keys, or locations made with an admin key. */
export async function simulateLocations(options: SimulateOptions, control: SimulationControl): Promise<void> {
  const adminKey = options["admin-key"];
  if (adminKey !== undefined) return simulateCreatedLocations(adminKey, options, control);
  const locate = async (apiKey: string, index: number) => {
    const { data } = await createLocationClient(options, control, apiKey).GET("/v1/locations/own");
    return { seed: locationSeed(options, index), locationId: data.id, apiKey };
  };
  await simulateAll(options, control, await Promise.all(options.key.map(locate)));
}

/** The locations of the options' seed, made where there are none; their keys are revoked at the end. */
async function simulateCreatedLocations(
  apiKey: string,
  options: SimulateOptions,
  control: SimulationControl,
): Promise<void> {
  const { url: baseUrl, "time-zone": timeZone } = options;
  // Its calls are not aborted: a key that has been created must be known, to be revoked.
  const admin = createAdminApiClient({ baseUrl, apiKey, ...createTransientRetryOptions({ ...control, fetch }) });
  const locations: SimulatedLocation[] = [];
  try {
    await ensureConsumer(admin, simulatorConsumerName, simulatorScopes);
    for (let index = 0; index < options.locations; index++) {
      const seed = locationSeed(options, index);
      const restaurant = generateRestaurant(seed);
      const legacyId = new Random(`location/${seed}`).integer(1, 2 ** 31 - 1);
      const locationId = await ensureLocation(admin, { restaurant, timeZone, owner: "pragma-simulator", legacyId });
      const location = { seed, locationId, apiKey: await createLocationKey(admin, locationId, simulatorConsumerName) };
      locations.push(location);
      await pushCatalogIfMissing(createLocationClient(options, control, location.apiKey), restaurant);
      control.log(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await simulateAll(options, control, locations);
  } finally {
    // Also when it is stopped.
    const unstopped = createAdminApiClient({ baseUrl, apiKey });
    await Promise.all(locations.map((location) => revokeKey(unstopped, location)));
  }
}

async function simulateAll(
  options: SimulateOptions,
  control: SimulationControl,
  locations: readonly SimulatedLocation[],
): Promise<void> {
  const playOne = async ({ seed, locationId, apiKey }: SimulatedLocation, index: number) => {
    const log = (line: string) => control.log(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const context = {
      ...control,
      log,
      api: createLocationClient(options, { ...control, log }, apiKey),
      restaurant: generateRestaurant(seed),
      timeZone: options["time-zone"],
      locationId,
      rate: options.rate,
    };
    await simulateLocation(context, { ...options, seed });
  };
  await Promise.all(locations.map(playOne));
}

/** What a location plays. */
export type LocationSimulationOptions = Pick<
  SimulateOptions,
  "seed" | "days" | "forever" | "history" | "orders" | "speed" | "from"
>;

/**
 * Plays a location's days one after the other, once what an earlier play left open is closed. Returns what became of the
 * last one.
 */
export async function simulateLocation(
  context: SimulationContext,
  options: LocationSimulationOptions,
): Promise<SimulatedDay | undefined> {
  const { clock, timeZone, log } = context;
  const { history, days, forever, speed, from } = options;
  await closeInterruptedTills(context, await findDeviceLiveOrders(context));
  const first = from === undefined ? localDateAt(clock.now(), timeZone) : Temporal.PlainDate.from(from);
  for (let before = history; before > 0; before--)
    await pushTill(context.api, generateDayTill(context, options, first.subtract({ days: before }).toString()));
  if (history > 0) log(`History: the tills of ${history} days are pushed`);

  let played: SimulatedDay | undefined;
  for (let index = 0; forever || index < days; index++) {
    const startsAt = clock.now();
    const till =
      from === undefined
        ? generateDayTill(context, options, first.toString(), startsAt)
        : generateDayTill(context, options, first.add({ days: index }).toString());
    const opens = Date.parse(till.startedAt);
    const pace = (instant: number) => startsAt + (instant - opens) / speed;
    played = await simulateDay(
      context,
      from === undefined ? scheduleAtPlayedTimes(till, pace) : scheduleAtOriginalTimes(till, pace),
    );
  }
  return played;
}

/** The till of a day: the same at the same location, for the same day and beginning. */
function generateDayTill(
  context: SimulationContext,
  { seed, orders }: LocationSimulationOptions,
  day: string,
  startsAt?: number,
): GeneratedTill {
  const { locationId, timeZone } = context;
  const tillId = new Random(`play/${seed}/${locationId}/${orders}/${day}/${startsAt ?? ""}`).uuid();
  return generateTill({ seed, orders, day, timeZone, tillId });
}

function createLocationClient({ url: baseUrl }: SimulateOptions, control: SimulationControl, apiKey: string) {
  return createApiClient({ baseUrl, apiKey, ...createTransientRetryOptions(control) });
}

async function revokeKey(admin: AdminApiClient, { locationId, apiKey }: SimulatedLocation): Promise<void> {
  for await (const { id, prefix } of admin.items("/v1/auth/keys", { params: { query: { locationId } } })) {
    if (!apiKey.startsWith(prefix)) continue;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    return;
  }
}

function locationSeed({ seed }: SimulateOptions, index: number): string {
  return index === 0 ? seed : `${seed}/${index + 1}`;
}

const simulatorConsumerName = "Pragma simulator";

/** What a key needs to play its location, with a catalogue. */
const simulatorScopes = [
  "orders:read",
  "orders:write",
  "reports:read",
  "tills:read",
  "tills:write",
  "catalog:read",
  "catalog:write",
  "locations:read",
] as const;
