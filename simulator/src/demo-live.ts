/**
 * Keeps the live orders of the demo location moving until it is told to end. It speaks only the public API, under the
 * key of the demo location.
 */
import { env, stdout } from "node:process";
import { createClient } from "@pragma/client/create-client";
import { z } from "zod";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { readDemoFile } from "./demo-location.ts";
import { playDemo } from "./play-demo.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryTransient, systemClock } from "./retry-transient.ts";
import { runUntilStopped } from "./run-until-stopped.ts";

const liveEnvironment = z.object({
  /** Where the API answers. */
  PRAGMA_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4000"),
  /** Where the location's id and key are remembered. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

await runUntilStopped(async (signal) => {
  const { PRAGMA_URL: baseUrl, PRAGMA_DEMO_FILE: file } = liveEnvironment.parse(env);
  const access = await readDemoFile(file);
  if (!access) throw new Error(`${file} names no demo location`);
  const say = (line: string) => void stdout.write(`${new Date().toISOString()} ${line}\n`);
  const control = { clock: systemClock, signal, say };
  await playDemo({
    ...control,
    api: createClient({ baseUrl, apiKey: access.apiKey, ...retryTransient(control) }),
    restaurant: generateRestaurant(demoRestaurant),
    timeZone: demoTimeZone,
    locationId: access.locationId,
    rate: 2,
  });
});
