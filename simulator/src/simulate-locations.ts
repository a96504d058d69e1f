import { type AdminApiClient, createAdminApiClient, createApiClient } from "@pragma/client/api-client";
import { generateTill } from "./generate-till.ts";
import {
  ensureApiConsumerWithScopes,
  importDemoLocation,
  pushCatalogIfMissing,
} from "./import-and-configure-location.ts";
import { createSimulatedSchedule } from "./order-revisions.ts";
import { SeededRandom } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { getLocalDate } from "./service-day.ts";
import {
  fetchDeviceLiveOrdersByTillId,
  pushInterruptedTills,
  type SimulatedDayResult,
  type SimulationContext,
  simulateRestaurantDay,
} from "./simulate-day.ts";
import type { SimulatorOptions } from "./simulate-options.ts";
import { createRetryOptions, type SimulationControl } from "./transient-retry-options.ts";

interface SimulatedLocation {
  locationId: string;
  apiKey: string;
}

/** Simulates the locations of the given API keys, or, with an admin key, locations that are created from the seed. */
export async function simulateLocations(options: SimulatorOptions, control: SimulationControl): Promise<void> {
  const adminKey = options["admin-key"];
  if (adminKey !== undefined) return simulateCreatedLocations(adminKey, options, control);
  const findLocationOfKey = async (apiKey: string) => {
    const { data } = await createLocationClient(options, control, apiKey).GET("/v1/locations/own");
    return { locationId: data.id, apiKey };
  };
  await simulateAll(options, control, await Promise.all(options.key.map(findLocationOfKey)));
}

async function simulateCreatedLocations(apiKey: string, options: SimulatorOptions, control: SimulationControl) {
  const { url: baseUrl } = options;
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
      const locationId = await importDemoLocation(admin, { restaurant, owner: "pragma-simulator", legacyId });
      const body = { locationId, consumerName: simulatorConsumerName };
      const { data: created } = await admin.POST("/v1/auth/keys", { body });
      locations.push({ locationId, ...created });
      await pushCatalogIfMissing(createLocationClient(options, control, created.apiKey), restaurant);
      control.log(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await simulateAll(options, control, locations);
  } finally {
    // This client ignores the stop signal, so that keys are also revoked when the simulation is stopped.
    const cleanupClient = createAdminApiClient({ baseUrl, apiKey });
    await Promise.all(locations.map((location) => revokeKey(cleanupClient, location)));
  }
}

async function simulateAll(options: SimulatorOptions, control: SimulationControl, locations: SimulatedLocation[]) {
  const simulateOne = async ({ locationId, apiKey }: SimulatedLocation, index: number) => {
    const seed = locationSeed(options, index);
    const log = (line: string) => control.log(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const api = createLocationClient(options, { ...control, log }, apiKey);
    const restaurant = generateRestaurant(seed);
    const context = { ...control, log, api, restaurant, locationId, maxCallsPerSecond: options.rate };
    await simulateLocation(context, { ...options, seed });
  };
  await Promise.all(locations.map(simulateOne));
}

export type LocationSimulationOptions = Pick<SimulatorOptions, "seed" | "days" | "orders" | "speed">;

/** Simulates the days one after the other, and returns the result of the last. First closes interrupted tills. */
export async function simulateLocation(
  context: SimulationContext,
  { seed, days, orders, speed }: LocationSimulationOptions,
): Promise<SimulatedDayResult | undefined> {
  const { clock, locationId } = context;
  await pushInterruptedTills(context, await fetchDeviceLiveOrdersByTillId(context));
  const day = getLocalDate(clock.now()).toString();
  let lastDay: SimulatedDayResult | undefined;
  for (let index = 0; index < days; index++) {
    const startsAtMs = clock.now();
    const tillId = new SeededRandom(`play/${seed}/${locationId}/${startsAtMs}`).uuid();
    const till = generateTill({ seed, orders, day, tillId });
    const openedMs = Date.parse(till.startedAt);
    const schedule = createSimulatedSchedule(till, (instantMs) => startsAtMs + (instantMs - openedMs) / speed);
    lastDay = await simulateRestaurantDay(context, schedule);
  }
  return lastDay;
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

const locationSeed = ({ seed }: SimulatorOptions, index: number) => (index === 0 ? seed : `${seed}/${index + 1}`);

const simulatorConsumerName = "Pragma simulator";

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
