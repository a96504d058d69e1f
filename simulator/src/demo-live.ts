/**
 * Simulates live orders of the demo location until the program is stopped. Uses only the public API with the API key
 * of the demo location.
 */
import { env, stdout } from "node:process";
import { createApiClient } from "@pragma/client/api-client";
import { demoEnvironmentVariablesSchema, demoRestaurantSeed, readDemoLocationCredentials } from "./demo-location.ts";
import { generateRestaurant } from "./restaurant.ts";
import { runProgramUntilStopped } from "./run-until-stopped.ts";
import { runDemoLocationSimulation } from "./simulate-demo.ts";
import { createRetryOptions, systemClock } from "./transient-retry-options.ts";

await runProgramUntilStopped(async (signal) => {
  const { PRAGMA_URL: baseUrl, PRAGMA_DEMO_FILE: file } = demoEnvironmentVariablesSchema.parse(env);
  const access = await readDemoLocationCredentials(file);
  if (!access) throw new Error(`${file} contains no demo location`);
  const log = (line: string) => void stdout.write(`${new Date().toISOString()} ${line}\n`);
  const control = { clock: systemClock, signal, log };
  await runDemoLocationSimulation({
    ...control,
    api: createApiClient({ baseUrl, apiKey: access.apiKey, ...createRetryOptions(control) }),
    restaurant: generateRestaurant(demoRestaurantSeed),
    locationId: access.locationId,
    maxCallsPerSecond: 2,
  });
});
