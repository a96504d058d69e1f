import { type AdminClient, createAdminClient, createClient } from "@pragma/client/create-client";
import { allowConsumer, createKey, openLocation, pushMissingCatalog } from "./open-location.ts";
import { playLocation } from "./play-location.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryingClient, systemClock } from "./retry-transient.ts";
import type { SimulateOptions } from "./simulate-options.ts";

interface Control {
  /** Ends the play: what waits or asks then throws the signal's reason. */
  signal: AbortSignal;
  /** Given lines for people. */
  say: (line: string) => void;
}

/** A location to be played. */
interface PlayedLocation {
  seed: string;
  locationId: string;
  apiKey: string;
}

/** Plays what the options ask for: the locations of their keys, or locations made with an admin key. */
export async function playLocations(options: SimulateOptions, control: Control): Promise<void> {
  const adminKey = options["admin-key"];
  if (adminKey !== undefined) return playOwnLocations(adminKey, options, control);
  const locations = await Promise.all(
    options.key.map((apiKey, index) => locationOfKey(options, control, apiKey, index)),
  );
  await play(options, control, locations);
}

/** The locations of the options' seed, made where there are none; their keys are revoked at the end. */
async function playOwnLocations(adminKey: string, options: SimulateOptions, control: Control): Promise<void> {
  const admin = createAdminClient({ baseUrl: options.url, apiKey: adminKey });
  const retrying = retryingClient(admin, { ...control, clock: systemClock });
  const locations: PlayedLocation[] = [];
  try {
    await allowConsumer(retrying, consumerName, playingScopes);
    for (let index = 0; index < options.locations; index++) {
      const seed = seedOf(options, index);
      const restaurant = generateRestaurant(seed);
      const legacyId = new Random(`location/${seed}`).integer(1, 2 ** 31 - 1);
      const timeZone = options["time-zone"];
      const locationId = await openLocation(retrying, { restaurant, timeZone, owner: "pragma-simulator", legacyId });
      const apiKey = await createKey(retrying, locationId, consumerName);
      locations.push({ seed, locationId, apiKey });
      await pushMissingCatalog(clientOf(options, control, apiKey), restaurant);
      control.say(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await play(options, control, locations);
  } finally {
    await Promise.all(locations.map((location) => revokeKey(admin, location)));
  }
}

async function locationOfKey(
  options: SimulateOptions,
  control: Control,
  apiKey: string,
  index: number,
): Promise<PlayedLocation> {
  const { data } = await clientOf(options, control, apiKey).GET("/v1/locations/own");
  return { seed: seedOf(options, index), locationId: data.id, apiKey };
}

async function play(options: SimulateOptions, control: Control, locations: readonly PlayedLocation[]): Promise<void> {
  const { orders, history, speed, rate, from = null } = options;
  const days = options.forever ? null : options.days;
  const playOne = ({ seed, locationId, apiKey }: PlayedLocation, index: number) => {
    const say = (line: string) => control.say(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const playing = {
      api: clientOf(options, { ...control, say }, apiKey),
      restaurant: generateRestaurant(seed),
      timeZone: options["time-zone"],
      locationId,
      rate,
      clock: systemClock,
      signal: control.signal,
      say,
    };
    return playLocation(playing, { seed, days, history, orders, speed, from });
  };
  await Promise.all(locations.map(playOne));
}

function clientOf({ url }: SimulateOptions, control: Control, apiKey: string) {
  return retryingClient(createClient({ baseUrl: url, apiKey }), { ...control, clock: systemClock });
}

async function revokeKey(admin: AdminClient, { locationId, apiKey }: PlayedLocation): Promise<void> {
  for await (const { id, prefix } of admin.items("/v1/auth/keys", { params: { query: { locationId } } })) {
    if (!apiKey.startsWith(prefix)) continue;
    await admin.DELETE("/v1/auth/keys/{id}", { params: { path: { id } } });
    return;
  }
}

/** Each location has a restaurant of its own. */
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
