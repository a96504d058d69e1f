import { Temporal } from "temporal-polyfill";
import { findOwnOrders, finishLeftovers } from "./finish-leftovers.ts";
import { type GeneratedTill, generateTill } from "./generate-till.ts";
import { presentDay, recordedDay, steadyPace } from "./live-day.ts";
import { type PlayedDay, playDay } from "./play-day.ts";
import type { Playing } from "./playing.ts";
import { pushTill } from "./push-till.ts";
import { Random } from "./random.ts";

/** What a location plays. */
export interface Program {
  /** Names the restaurant. */
  seed: string;
  /** How many days; null for as long as nobody stops it. */
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
export async function playLocation(playing: Playing, program: Program): Promise<PlayedDay[]> {
  const { clock, timeZone, say } = playing;
  await finishLeftovers(playing, await findOwnOrders(playing));
  const today = Temporal.Instant.fromEpochMilliseconds(clock.now()).toZonedDateTimeISO(timeZone).toPlainDate();
  const first = program.from === null ? today : Temporal.PlainDate.from(program.from);
  for (let before = program.history; before > 0; before--)
    await pushTill(playing, tillOf(playing, program, first.subtract({ days: before }).toString()));
  if (program.history > 0) say(`History: the tills of ${program.history} days are pushed`);

  const played: PlayedDay[] = [];
  for (let index = 0; index !== program.days; index++) {
    const begins = clock.now();
    const isRecorded = program.from !== null;
    const till = isRecorded
      ? tillOf(playing, program, first.add({ days: index }).toString())
      : tillOf(playing, program, today.toString(), begins);
    const pace = steadyPace(till, { begins, speed: program.speed });
    const day = await playDay(playing, isRecorded ? recordedDay(till, pace) : presentDay(till, pace));
    // What was played is not kept by a play without an end.
    if (program.days !== null) played.push(day);
  }
  return played;
}

/** The till of a day: the same at the same location, for the same day and beginning. */
function tillOf({ name, timeZone }: Playing, { seed, orders }: Program, day: string, begins?: number): GeneratedTill {
  const tillId = new Random(`play/${seed}/${name}/${orders}/${day}/${begins ?? ""}`).uuid();
  return generateTill({ seed, orders, day, timeZone, tillId });
}
