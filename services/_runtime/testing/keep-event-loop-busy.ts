import { isEventLoopBusy } from "../admission/event-loop-load.ts";
import { sleep } from "../concurrency/sleep.ts";

/** Longer than the time for which work of several senders counts, in milliseconds. */
const senderPresenceMs = 1_100;

/**
 * Keeps the event loop busy for 20 ms at a time. Returns once that is known and no work of earlier tests counts. Returns a
 * function that ends the work, and returns once the event loop no longer counts as busy and shared.
 */
export async function keepEventLoopBusy(): Promise<() => Promise<void>> {
  let isDone = false;
  const work = async () => {
    while (!isDone) {
      for (const end = performance.now() + 20; performance.now() < end; );
      await new Promise(setImmediate);
    }
  };
  const working = work();
  while (!isEventLoopBusy()) await new Promise(setImmediate);
  await sleep(senderPresenceMs);
  return async () => {
    isDone = true;
    await working;
    await sleep(senderPresenceMs);
    while (isEventLoopBusy()) await sleep(20);
  };
}
