/** `npm run simulate`: plays pretend restaurants against the API, until their days are over or somebody stops it. */
import { argv, env, exit, stderr, stdout } from "node:process";
import { explain } from "./explain.ts";
import { setUpPlays } from "./set-up-plays.ts";
import { readOptions, type SimulateOptions } from "./simulate-options.ts";
import { stopSignal } from "./stop-signal.ts";

const signal = stopSignal();
try {
  const options = readOptions(argv.slice(2), env);
  if (typeof options === "string") stdout.write(`${options}\n`);
  else await simulate(options);
} catch (error) {
  if (!signal.aborted) stderr.write(`${explain(error)}\n`);
  // What else still asks or waits has nobody to tell.
  exit(signal.aborted ? 0 : 1);
}

async function simulate(options: SimulateOptions): Promise<void> {
  const say = (line: string) => stdout.write(`${line}\n`);
  const { plays, tearDown } = await setUpPlays(options, { signal, say });
  try {
    await Promise.all(plays.map((play) => play()));
  } finally {
    if (signal.aborted) say("Stopped. Orders that are still open stay so until the next play of this seed.");
    await tearDown();
  }
}
