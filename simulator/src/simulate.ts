/** `npm run simulate`: simulates restaurants that use the API, until all days have ended or the program is stopped. */
import { argv, env, stdout } from "node:process";
import { runProgramUntilStopped } from "./run-until-stopped.ts";
import { simulateLocations } from "./simulate-locations.ts";
import { parseSimulateCommandOptions } from "./simulate-options.ts";
import { systemClock } from "./transient-retry-options.ts";

const log = (line: string) => stdout.write(`${line}\n`);

await runProgramUntilStopped(async (signal) => {
  signal.addEventListener("abort", () =>
    log("Stopped. The next run with this seed closes the orders that are still open."),
  );
  const options = parseSimulateCommandOptions(argv.slice(2), env);
  if (typeof options === "string") log(options);
  else await simulateLocations(options, { clock: systemClock, signal, log });
});
