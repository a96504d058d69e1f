/** `npm run simulate`: plays pretend restaurants against the API, until their days are over or it is stopped. */
import { argv, env, exit, stderr, stdout } from "node:process";
import { explain } from "./explain.ts";
import { playLocations } from "./play-locations.ts";
import { readOptions } from "./simulate-options.ts";
import { stopSignal } from "./stop-signal.ts";

const signal = stopSignal();
const say = (line: string) => stdout.write(`${line}\n`);
signal.addEventListener("abort", () =>
  say("Stopped. Orders that are still open stay so until the next play of this seed."),
);
try {
  const options = readOptions(argv.slice(2), env);
  if (typeof options === "string") say(options);
  else await playLocations(options, { signal, say });
} catch (error) {
  if (!signal.aborted) stderr.write(`${explain(error)}\n`);
  // Calls that are still open need no answer any more.
  exit(signal.aborted ? 0 : 1);
}
