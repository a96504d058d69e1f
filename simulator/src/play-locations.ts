import { type AdminClient, createAdminClient, createClient } from "@pragma/client/create-client";
import { allowConsumer, createKey, openLocation, pushMissingCatalog } from "./open-location.ts";
import { playLocation } from "./play-location.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryTransient, systemClock } from "./retry-transient.ts";
import type { SimulateOptions } from "./simulate-options.ts";

interface Control {
  /** Ends the play: what waits then throws the signal's reason, and calls are broken off. */
  signal: AbortSignal;
  /** Given lines for people. */
  say: (line: string) => void;
}

/** A location to be played, under a seed of its own: each has its own restaurant. */
interface PlayedLocation {
  seed: string;
  locationId: string;
  apiKey: string;
}

/** Plays what the options ask for: the locations of their keys, or locations made with an admin key. */
export async function playLocations(options: SimulateOptions, control: Control): Promise<void> {
  const adminKey = options["admin-key"];
  if (adminKey !== undefined) return playOwnLocations(adminKey, options, control);
  const locate = async (apiKey: string, index: number) => {
    const { data } = await clientOf(options, control, apiKey).GET("/v1/locations/own");
    return { seed: seedOf(options, index), locationId: data.id, apiKey };
  };
  await play(options, control, await Promise.all(options.key.map(locate)));
}

/** The locations of the options' seed, made where there are none; their keys are revoked at the end. */
async function playOwnLocations(apiKey: string, options: SimulateOptions, control: Control): Promise<void> {
  const { url: baseUrl, "time-zone": timeZone } = options;
  const admin = createAdminClient({ baseUrl, apiKey, ...retryTransient({ ...control, clock: systemClock }) });
  const locations: PlayedLocation[] = [];
  try {
    await allowConsumer(admin, consumerName, playingScopes);
    for (let index = 0; index < options.locations; index++) {
      const seed = seedOf(options, index);
      const restaurant = generateRestaurant(seed);
      const legacyId = new Random(`location/${seed}`).integer(1, 2 ** 31 - 1);
      const locationId = await openLocation(admin, { restaurant, timeZone, owner: "pragma-simulator", legacyId });
      const location = { seed, locationId, apiKey: await createKey(admin, locationId, consumerName) };
      locations.push(location);
      await pushMissingCatalog(clientOf(options, control, location.apiKey), restaurant);
      control.say(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await play(options, control, locations);
  } finally {
    // Also when it is stopped: these calls are not broken off.
    const unstopped = createAdminClient({ baseUrl, apiKey });
    await Promise.all(locations.map((location) => revokeKey(unstopped, location)));
  }
}

async function play(options: SimulateOptions, control: Control, locations: readonly PlayedLocation[]): Promise<void> {
  const playOne = async ({ seed, locationId, apiKey }: PlayedLocation, index: number) => {
    const say = (line: string) => control.say(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const playing = {
      api: clientOf(options, { ...control, say }, apiKey),
      restaurant: generateRestaurant(seed),
      timeZone: options["time-zone"],
      locationId,
      rate: options.rate,
      clock: systemClock,
      signal: control.signal,
      say,
    };
    const { forever, from = null } = options;
    await playLocation(playing, { ...options, seed, from, days: forever ? null : options.days });
  };
  await Promise.all(locations.map(playOne));
}

function clientOf({ url: baseUrl }: SimulateOptions, control: Control, apiKey: string) {
  return createClient({ baseUrl, apiKey, ...retryTransient({ ...control, clock: systemClock }) });
}

async function revokeKey(admin: AdminClient, { locationId, apiKey }: PlayedLocation): Promise<void> {
  for await (const { id, prefix } of admin.items("/v1/auth/keys", { params: { query: { locationId } } })) {
    if (!apiKey.startsWith(prefix)) continue;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    return;
  }
}

function seedOf({ seed }: SimulateOptions, index: number): string {
  return index === 0 ? seed : `${seed}/${index + 1}`;
}

const consumerName = "Pragma simulator";

/** What a key needs to play its location, with a catalogue. */
const playingScopes = [
  "orders:read",
  "orders:write",
  "reports:read",
  "tills:read",
  "tills:write",
  "catalog:read",
  "catalog:write",
  "locations:read",
] as const;
