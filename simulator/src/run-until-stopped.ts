import { setMaxListeners } from "node:events";
import { exit, stderr } from "node:process";
import { z } from "zod";

/** What an error says to a person, with its causes. */
export function formatErrorWithCauses(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${formatErrorWithCauses(error.cause)}`;
}

/**
 * Runs a program until it is done, or until Ctrl-C or the end of the process is asked for: then its signal is given, and
 * a second Ctrl-C ends it at once. What goes wrong is written for people.
 */
export async function runUntilStopped(program: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  // Each call adds a listener, which goes only when its request is garbage: thousands are no leak.
  setMaxListeners(0, stop.signal);
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(name, () => {
      if (stop.signal.aborted) exit(1);
      stop.abort(new Error("Stopped"));
    });
  }
  try {
    await program(stop.signal);
  } catch (error) {
    if (!stop.signal.aborted) stderr.write(`${formatErrorWithCauses(error)}\n`);
    exit(stop.signal.aborted ? 0 : 1);
  }
}
