import { createAdminClient, createClient } from "@pragma/client/create-client";
import { wallClock } from "./clock.ts";
import { patiently } from "./patiently.ts";
import { playLocation } from "./play-location.ts";
import type { Playing } from "./playing.ts";
import { pushMissingCatalog } from "./push-catalog.ts";
import { generateRestaurant } from "./restaurant.ts";
import type { SimulateOptions } from "./simulate-options.ts";
import { openSimulatedLocation, openSimulatorConsumer } from "./simulated-locations.ts";

interface Stage {
  signal: AbortSignal;
  say: (line: string) => void;
}

interface Plays {
  /** Each plays a location. */
  plays: (() => Promise<unknown>)[];
  /** Undoes what only the play needed. */
  tearDown: () => Promise<void>;
}

/** Gets ready to play what the options ask for: the locations of their keys, or locations made with an admin key. */
export async function setUpPlays(options: SimulateOptions, stage: Stage): Promise<Plays> {
  const adminKey = options["admin-key"];
  return adminKey === undefined ? playsOfKeys(options, stage) : playsOfOwnLocations(adminKey, options, stage);
}

async function playsOfKeys(options: SimulateOptions, stage: Stage): Promise<Plays> {
  const plays = options.key.map(async (apiKey, index) => {
    const api = createClient({ baseUrl: options.url, apiKey });
    const { data: location } = await patiently({ ...stage, clock: wallClock }, (signal) =>
      api.GET("/v1/locations/own", { signal }),
    );
    const application = options.application === "popina" ? "POPINA" : "JALIA";
    const legacyId = options["legacy-id"];
    return playOf(options, stage, {
      api,
      index,
      name: location.id,
      legacy: options.format === "v1" && legacyId !== undefined ? { application, legacyId } : null,
    });
  });
  return { plays: await Promise.all(plays), tearDown: async () => {} };
}

async function playsOfOwnLocations(adminKey: string, options: SimulateOptions, stage: Stage): Promise<Plays> {
  const admin = createAdminClient({ baseUrl: options.url, apiKey: adminKey });
  const patience = { ...stage, clock: wallClock };
  await patiently(patience, () => openSimulatorConsumer(admin));
  const plays: Plays["plays"] = [];
  const revocations: (() => Promise<void>)[] = [];
  const tearDown = async () => void (await Promise.all(revocations.map((revoke) => revoke())));
  try {
    for (let index = 0; index < options.locations; index++) {
      const plan = { seed: seedOf(options, index), timeZone: options["time-zone"] };
      const location = await patiently(patience, () => openSimulatedLocation(admin, plan));
      revocations.push(location.revokeKey);
      const api = createClient({ baseUrl: options.url, apiKey: location.apiKey });
      await patiently(patience, () => pushMissingCatalog(api, location.restaurant));
      stage.say(`Location ${location.id}: ${location.restaurant.establishment.establishmentName}`);
      const legacy = options.format === "v1" ? location.legacy : null;
      plays.push(playOf(options, stage, { api, index, name: location.id, legacy }));
    }
  } catch (error) {
    await tearDown();
    throw error;
  }
  return { plays, tearDown };
}

interface Part extends Pick<Playing, "api" | "name" | "legacy"> {
  index: number;
}

function playOf(options: SimulateOptions, { signal, say }: Stage, { index, ...part }: Part): () => Promise<unknown> {
  const seed = seedOf(options, index);
  const restaurant = generateRestaurant(seed);
  const isAlone = Math.max(options.locations, options.key.length) === 1;
  const playing: Playing = {
    ...part,
    restaurant,
    timeZone: options["time-zone"],
    rate: options.rate,
    clock: wallClock,
    signal,
    say: (line) => say(isAlone ? line : `${index + 1}  ${line}`),
  };
  const { history, orders, speed, from = null } = options;
  const days = options.forever ? null : options.days;
  return () => playLocation(playing, { seed, days, history, orders, speed, from });
}

/** Each location has a restaurant of its own. */
function seedOf({ seed }: SimulateOptions, index: number): string {
  return index === 0 ? seed : `${seed}/${index + 1}`;
}
