/**
 * Keeps the live orders of the demo location moving until it is told to end. It speaks only the public API, under the
 * key of the demo location.
 */
import { env, exit, stderr, stdout } from "node:process";
import { createClient } from "@pragma/client/create-client";
import { z } from "zod";
import { wallClock } from "./clock.ts";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { readDemoFile } from "./demo-file.ts";
import { explain } from "./explain.ts";
import { playDemo } from "./play-demo.ts";
import { generateRestaurant } from "./restaurant.ts";
import { stopSignal } from "./stop-signal.ts";

const liveEnvironment = z.object({
  /** Where the API answers. */
  PRAGMA_URL: z.url({ protocol: /^https?$/ }).default("http://127.0.0.1:4000"),
  /** Where the location's id and key are remembered. */
  PRAGMA_DEMO_FILE: z.string().min(1).default(".pragma/demo.json"),
});

const signal = stopSignal();
try {
  const { PRAGMA_URL: baseUrl, PRAGMA_DEMO_FILE: file } = liveEnvironment.parse(env);
  const access = await readDemoFile(file);
  if (!access) throw new Error(`${file} tells of no demo location`);
  await playDemo(
    {
      api: createClient({ baseUrl, apiKey: access.apiKey }),
      restaurant: generateRestaurant(demoRestaurant),
      timeZone: demoTimeZone,
      name: access.locationId,
      legacy: null,
      rate: 2,
      clock: wallClock,
      signal,
      say: (line) => stdout.write(`${new Date().toISOString()} ${line}\n`),
    },
    access.locationId,
  );
} catch (error) {
  if (!signal.aborted) stderr.write(`${explain(error)}\n`);
  // What else still asks or waits has nobody to tell.
  exit(signal.aborted ? 0 : 1);
}
