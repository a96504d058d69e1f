import { Temporal } from "temporal-polyfill";
import { closeLeftovers, findOwnOrders } from "./close-leftovers.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { presentDay, recordedDay, steadyPace } from "./live-day.ts";
import { type PlayedDay, type Playing, playDay, pushTill } from "./play-day.ts";
import { Random } from "./random.ts";

/** What a location plays. */
export interface PlayOptions {
  /** Names the restaurant. */
  seed: string;
  /** How many days; null for as long as it is not stopped. */
  days: number | null;
  /** How many days before the first one have their tills pushed. */
  history: number;
  /** Orders a day. */
  orders: number;
  speed: number;
  /** The day whose times the first day's orders carry, YYYY-MM-DD; null for those at which they are played. */
  from: string | null;
}

/** Plays a location's days one after the other, once what an earlier play left open is closed. */
export async function playLocation(playing: Playing, options: PlayOptions): Promise<PlayedDay[]> {
  const { clock, timeZone, say } = playing;
  const { history, days, speed, from } = options;
  await closeLeftovers(playing, await findOwnOrders(playing));
  const today = Temporal.Instant.fromEpochMilliseconds(clock.now()).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = from === null ? today : Temporal.PlainDate.from(from);
  for (let before = history; before > 0; before--)
    await pushTill(playing.api, tillOf(playing, options, first.subtract({ days: before }).toString()));
  if (history > 0) say(`History: the tills of ${history} days are pushed`);

  const played: PlayedDay[] = [];
  for (let index = 0; index !== days; index++) {
    const begins = clock.now();
    const date = from === null ? today : first.add({ days: index });
    const till = tillOf(playing, options, date.toString(), from === null ? begins : undefined);
    const pace = steadyPace(till, { begins, speed });
    const day = await playDay(playing, from === null ? presentDay(till, pace) : recordedDay(till, pace));
    // What was played is not kept by a play without an end.
    if (days !== null) played.push(day);
  }
  return played;
}

/** The till of a day: the same at the same location, for the same day and beginning. */
function tillOf(playing: Playing, { seed, orders }: PlayOptions, day: string, begins?: number): GeneratedTill {
  const { locationId, timeZone } = playing;
  const tillId = new Random(`play/${seed}/${locationId}/${orders}/${day}/${begins ?? ""}`).uuid();
  return generateTill({ seed, orders, day, timeZone, tillId });
}
