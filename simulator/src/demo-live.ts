/**
 * Keeps the live orders of the demo location moving until it is told to end. It speaks only the public API, under the
 * key of the demo location.
 */
import { env, exit, stderr, stdout } from "node:process";
import { createClient } from "@pragma/client/create-client";
import { z } from "zod";
import { demoRestaurant, demoTimeZone } from "./demo-days.ts";
import { readDemoFile } from "./demo-file.ts";
import { explain } from "./explain.ts";
import { playDemo } from "./play-demo.ts";
import { generateRestaurant } from "./restaurant.ts";
import { retryingClient, systemClock } from "./retry-transient.ts";
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
  if (!access) throw new Error(`${file} names no demo location`);
  const control = {
    clock: systemClock,
    signal,
    say: (line: string) => stdout.write(`${new Date().toISOString()} ${line}\n`),
  };
  await playDemo({
    ...control,
    api: retryingClient(createClient({ baseUrl, apiKey: access.apiKey }), control),
    restaurant: generateRestaurant(demoRestaurant),
    timeZone: demoTimeZone,
    locationId: access.locationId,
    rate: 2,
  });
} catch (error) {
  if (!signal.aborted) stderr.write(`${explain(error)}\n`);
  // Calls that are still open need no answer any more.
  exit(signal.aborted ? 0 : 1);
}
