import { setMaxListeners } from "node:events";
import { exit, stderr } from "node:process";
import { z } from "zod";

export function formatErrorWithCauses(error: unknown): string {
  if (error instanceof z.ZodError) return z.prettifyError(error);
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined ? error.message : `${error.message}: ${formatErrorWithCauses(error.cause)}`;
}

/**
 * Runs a program until it ends, or a signal aborts its `AbortSignal`. A second signal ends the process immediately. Errors
 * after the abort are ignored; one before it is printed without its stack, and the exit code is 1.
 */
export async function runProgramUntilStopped(program: (signal: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  // Disables the warning about many listeners, because each request adds one that only garbage collection removes.
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
