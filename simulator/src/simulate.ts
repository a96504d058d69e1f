/** `npm run simulate`: plays pretend restaurants against the API, until their days are over or it is stopped. */
import { argv, env, stdout } from "node:process";
import { playLocations } from "./play-locations.ts";
import { systemClock } from "./retry-transient.ts";
import { runUntilStopped } from "./run-until-stopped.ts";
import { readOptions } from "./simulate-options.ts";

const log = (line: string) => stdout.write(`${line}\n`);

await runUntilStopped(async (signal) => {
  signal.addEventListener("abort", () =>
    log("Stopped. Orders that are still open stay so until the next play of this seed."),
  );
  const options = readOptions(argv.slice(2), env);
  if (typeof options === "string") log(options);
  else await playLocations(options, { clock: systemClock, signal, log });
});
