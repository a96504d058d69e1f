import { setMaxListeners } from "node:events";
import { setTimeout as delay } from "node:timers/promises";

/** Waits for a number of milliseconds. Resolves early, without an error, if the signal is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  // Node.js would warn of a leak when more than ten callers wait.
  if (signal) setMaxListeners(0, signal);
  try {
    await delay(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
