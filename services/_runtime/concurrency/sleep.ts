import { setTimeout as delay } from "node:timers/promises";

/** Waits for a number of milliseconds. Resolves early, without an error, if the signal is aborted. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  try {
    await delay(milliseconds, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
