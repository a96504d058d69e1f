import { type AdminApiClient, createAdminApiClient, createApiClient } from "@pragma/client/api-client";
import { Temporal } from "temporal-polyfill";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import {
  createLocationKeyThroughApi,
  ensureApiConsumerWithScopes,
  importDemoLocation,
  pushCatalogIfMissing,
} from "./import-and-configure-location.ts";
import { createOriginalSchedule, createSimulatedSchedule } from "./order-schedule.ts";
import { SeededRandom } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { getLocalDate } from "./service-day.ts";
import {
  fetchDeviceLiveOrdersByTillId,
  pushGeneratedTill,
  pushInterruptedTills,
  type SimulatedDayResult,
  type SimulationContext,
  simulateRestaurantDay,
} from "./simulate-day.ts";
import type { SimulatorOptions } from "./simulate-options.ts";
import { createRetryOptions } from "./transient-retry-options.ts";

type SimulationControl = Pick<SimulationContext, "clock" | "signal" | "log">;

/** A location to simulate. Its restaurant is generated from the seed. */
interface SimulatedLocation {
  seed: string;
  locationId: string;
  apiKey: string;
}

/** Simulates the locations of the given API keys, or, with an admin key, locations that are created from the seed. */
export async function simulateLocations(options: SimulatorOptions, control: SimulationControl): Promise<void> {
  const adminKey = options["admin-key"];
  if (adminKey !== undefined) return simulateCreatedLocations(adminKey, options, control);
  const findLocationOfKey = async (apiKey: string, index: number) => {
    const { data } = await createLocationClient(options, control, apiKey).GET("/v1/locations/own");
    return { seed: locationSeed(options, index), locationId: data.id, apiKey };
  };
  await simulateAll(options, control, await Promise.all(options.key.map(findLocationOfKey)));
}

/** Simulates the locations of the seed, and creates them if needed. Revokes their API keys at the end. */
async function simulateCreatedLocations(
  apiKey: string,
  options: SimulatorOptions,
  control: SimulationControl,
): Promise<void> {
  const { url: baseUrl, "time-zone": timeZone } = options;
  // The stop signal does not abort an admin request in flight. Otherwise, a new API key whose response is lost could
  // not be revoked.
  const admin = createAdminApiClient({ baseUrl, apiKey, ...createRetryOptions({ ...control, fetch }) });
  const locations: SimulatedLocation[] = [];
  try {
    await ensureApiConsumerWithScopes(admin, simulatorConsumerName, simulatorScopes);
    for (let index = 0; index < options.locations; index++) {
      const seed = locationSeed(options, index);
      const restaurant = generateRestaurant(seed);
      const legacyId = new SeededRandom(`location/${seed}`).integer(1, 2 ** 31 - 1);
      const locationId = await importDemoLocation(admin, {
        restaurant,
        timeZone,
        owner: "pragma-simulator",
        legacyId,
      });
      const location = {
        seed,
        locationId,
        apiKey: await createLocationKeyThroughApi(admin, locationId, simulatorConsumerName),
      };
      locations.push(location);
      await pushCatalogIfMissing(createLocationClient(options, control, location.apiKey), restaurant);
      control.log(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await simulateAll(options, control, locations);
  } finally {
    // This client ignores the stop signal, so that keys are also revoked when the simulation is stopped.
    const cleanupClient = createAdminApiClient({ baseUrl, apiKey });
    await Promise.all(locations.map((location) => revokeKey(cleanupClient, location)));
  }
}

async function simulateAll(
  options: SimulatorOptions,
  control: SimulationControl,
  locations: readonly SimulatedLocation[],
): Promise<void> {
  const simulateOne = async ({ seed, locationId, apiKey }: SimulatedLocation, index: number) => {
    const log = (line: string) => control.log(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const context = {
      ...control,
      log,
      api: createLocationClient(options, { ...control, log }, apiKey),
      restaurant: generateRestaurant(seed),
      timeZone: options["time-zone"],
      locationId,
      maxCallsPerSecond: options.rate,
    };
    await simulateLocation(context, { ...options, seed });
  };
  await Promise.all(locations.map(simulateOne));
}

/** The options that apply to the simulation of each location. */
export type LocationSimulationOptions = Pick<
  SimulatorOptions,
  "seed" | "days" | "forever" | "history" | "orders" | "speed" | "from"
>;

/**
 * Simulates the days of a location one after the other, and returns the result of the last day. First closes the tills
 * of an interrupted simulation, and pushes the tills of the days before the first day (`history`).
 */
export async function simulateLocation(
  context: SimulationContext,
  options: LocationSimulationOptions,
): Promise<SimulatedDayResult | undefined> {
  const { clock, timeZone, log } = context;
  const { history, days, forever, speed, from } = options;
  await pushInterruptedTills(context, await fetchDeviceLiveOrdersByTillId(context));
  const firstDay = from === undefined ? getLocalDate(clock.now(), timeZone) : Temporal.PlainDate.from(from);
  for (let daysBefore = history; daysBefore > 0; daysBefore--)
    await pushGeneratedTill(
      context.api,
      generateDayTill(context, options, firstDay.subtract({ days: daysBefore }).toString()),
    );
  if (history > 0) log(`Pushed the tills of ${history} past days`);

  let lastDay: SimulatedDayResult | undefined;
  for (let index = 0; forever || index < days; index++) {
    const startsAtMs = clock.now();
    const till =
      from === undefined
        ? generateDayTill(context, options, firstDay.toString(), startsAtMs)
        : generateDayTill(context, options, firstDay.add({ days: index }).toString());
    const openedMs = Date.parse(till.startedAt);
    const toSimulatedMs = (instantMs: number) => startsAtMs + (instantMs - openedMs) / speed;
    lastDay = await simulateRestaurantDay(
      context,
      from === undefined ? createSimulatedSchedule(till, toSimulatedMs) : createOriginalSchedule(till, toSimulatedMs),
    );
  }
  return lastDay;
}

/** Returns the till of a day. The same location, options, day and start time always generate the same till. */
function generateDayTill(
  context: SimulationContext,
  { seed, orders }: LocationSimulationOptions,
  day: string,
  startsAtMs?: number,
): GeneratedTill {
  const { locationId, timeZone } = context;
  const tillId = new SeededRandom(`play/${seed}/${locationId}/${orders}/${day}/${startsAtMs ?? ""}`).uuid();
  return generateTill({ seed, orders, day, timeZone, tillId });
}

function createLocationClient({ url: baseUrl }: SimulatorOptions, control: SimulationControl, apiKey: string) {
  return createApiClient({ baseUrl, apiKey, ...createRetryOptions(control) });
}

async function revokeKey(admin: AdminApiClient, { locationId, apiKey }: SimulatedLocation): Promise<void> {
  for await (const { id, prefix } of admin.items("/v1/auth/keys", { params: { query: { locationId } } })) {
    if (!apiKey.startsWith(prefix)) continue;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    return;
  }
}

function locationSeed({ seed }: SimulatorOptions, index: number): string {
  return index === 0 ? seed : `${seed}/${index + 1}`;
}

const simulatorConsumerName = "Pragma simulator";

/** The scopes that the simulation of a location needs. */
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
