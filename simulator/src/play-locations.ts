import { type AdminClient, createAdminClient, createClient } from "@pragma/client/create-client";
import { Temporal } from "temporal-polyfill";
import { createKey, ensureConsumer, ensureLocation, pushCatalogIfMissing } from "./ensure-location.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { presentDay, recordedDay } from "./order-revisions.ts";
import {
  closeInterruptedTills,
  findOwnOrders,
  type PlayContext,
  type PlayedDay,
  playDay,
  pushTill,
} from "./play-day.ts";
import { Random } from "./random.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryTransient } from "./retry-transient.ts";
import { localDay } from "./service-day.ts";
import type { SimulateOptions } from "./simulate-options.ts";

type Control = Pick<PlayContext, "clock" | "signal" | "log">;

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
  // Its calls are not aborted: a key that has been created must be known, to be revoked.
  const admin = createAdminClient({ baseUrl, apiKey, ...retryTransient({ ...control, fetch }) });
  const locations: PlayedLocation[] = [];
  try {
    await ensureConsumer(admin, consumerName, playingScopes);
    for (let index = 0; index < options.locations; index++) {
      const seed = seedOf(options, index);
      const restaurant = generateRestaurant(seed);
      const legacyId = new Random(`location/${seed}`).integer(1, 2 ** 31 - 1);
      const locationId = await ensureLocation(admin, { restaurant, timeZone, owner: "pragma-simulator", legacyId });
      const location = { seed, locationId, apiKey: await createKey(admin, locationId, consumerName) };
      locations.push(location);
      await pushCatalogIfMissing(clientOf(options, control, location.apiKey), restaurant);
      control.log(`Location ${locationId}: ${restaurant.establishment.establishmentName}`);
    }
    await play(options, control, locations);
  } finally {
    // Also when it is stopped.
    const unstopped = createAdminClient({ baseUrl, apiKey });
    await Promise.all(locations.map((location) => revokeKey(unstopped, location)));
  }
}

async function play(options: SimulateOptions, control: Control, locations: readonly PlayedLocation[]): Promise<void> {
  const playOne = async ({ seed, locationId, apiKey }: PlayedLocation, index: number) => {
    const log = (line: string) => control.log(locations.length === 1 ? line : `${index + 1}  ${line}`);
    const context = {
      ...control,
      log,
      api: clientOf(options, { ...control, log }, apiKey),
      restaurant: generateRestaurant(seed),
      timeZone: options["time-zone"],
      locationId,
      rate: options.rate,
    };
    await playLocation(context, { ...options, seed });
  };
  await Promise.all(locations.map(playOne));
}

/** What a location plays. */
export type PlayOptions = Pick<SimulateOptions, "seed" | "days" | "forever" | "history" | "orders" | "speed" | "from">;

/**
 * Plays a location's days one after the other, once what an earlier play left open is closed. Returns what became of the
 * last one.
 */
export async function playLocation(context: PlayContext, options: PlayOptions): Promise<PlayedDay | undefined> {
  const { clock, timeZone, log } = context;
  const { history, days, forever, speed, from } = options;
  await closeInterruptedTills(context, await findOwnOrders(context));
  const first = from === undefined ? localDay(clock.now(), timeZone) : Temporal.PlainDate.from(from);
  for (let before = history; before > 0; before--)
    await pushTill(context.api, tillOf(context, options, first.subtract({ days: before }).toString()));
  if (history > 0) log(`History: the tills of ${history} days are pushed`);

  let played: PlayedDay | undefined;
  for (let index = 0; forever || index < days; index++) {
    const startsAt = clock.now();
    const till =
      from === undefined
        ? tillOf(context, options, first.toString(), startsAt)
        : tillOf(context, options, first.add({ days: index }).toString());
    const opens = Date.parse(till.startedAt);
    const pace = (instant: number) => startsAt + (instant - opens) / speed;
    played = await playDay(context, from === undefined ? presentDay(till, pace) : recordedDay(till, pace));
  }
  return played;
}

/** The till of a day: the same at the same location, for the same day and beginning. */
function tillOf(context: PlayContext, { seed, orders }: PlayOptions, day: string, startsAt?: number): GeneratedTill {
  const { locationId, timeZone } = context;
  const tillId = new Random(`play/${seed}/${locationId}/${orders}/${day}/${startsAt ?? ""}`).uuid();
  return generateTill({ seed, orders, day, timeZone, tillId });
}

function clientOf({ url: baseUrl }: SimulateOptions, control: Control, apiKey: string) {
  return createClient({ baseUrl, apiKey, ...retryTransient(control) });
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
