import { setImmediate as nextEventLoopIteration } from "node:timers/promises";

/** Milliseconds after which other requests are handled. */
const maxBusyMs = 10;

/** Returns a function that lets other requests be handled if this one has computed for a while. */
export function createPause(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < maxBusyMs) return;
    await nextEventLoopIteration();
    since = performance.now();
  };
}
