/**
 * Keeps the live orders of the demo location moving until it is stopped. It speaks only the public API, under the
 * key of the demo location.
 */
import { env, stdout } from "node:process";
import { createClient } from "@pragma/client/create-client";
import { demoEnvironment, demoRestaurant, demoTimeZone, readDemoFile } from "./demo-location.ts";
import { playDemo } from "./play-demo.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryTransient, systemClock } from "./retry-transient.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

await runUntilStopped(async (signal) => {
  const { PRAGMA_URL: baseUrl, PRAGMA_DEMO_FILE: file } = demoEnvironment.parse(env);
  const access = await readDemoFile(file);
  if (!access) throw new Error(`${file} names no demo location`);
  const log = (line: string) => void stdout.write(`${new Date().toISOString()} ${line}\n`);
  const control = { clock: systemClock, signal, log };
  await playDemo({
    ...control,
    api: createClient({ baseUrl, apiKey: access.apiKey, ...retryTransient(control) }),
    restaurant: generateRestaurant(demoRestaurant),
    timeZone: demoTimeZone,
    locationId: access.locationId,
    rate: 2,
  });
});
