import { setMaxListeners } from "node:events";

/** Returns a promise that settles like `promise`. If the signal is aborted first, rejects with the signal's reason. */
export function racePromiseWithAbort<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) {
      // Otherwise, a later rejection of the promise would be unhandled.
      promise.catch(() => {});
      return onAbort();
    }
    // Node.js would warn of a leak when a request reads more than ten objects at a time.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}
