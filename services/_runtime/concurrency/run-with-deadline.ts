import { setMaxListeners } from "node:events";
import { racePromiseWithAbort } from "./race-promise-with-abort.ts";

interface Deadline {
  timeoutMs: number;
  createError(): Error;
  /** When this signal is aborted, the promise rejects with its reason, before the timeout. */
  parent?: AbortSignal;
}

/** Returns the result of `work`. After the timeout, rejects and aborts the signal of the work, which may continue. */
export async function runWithDeadline<T>(
  work: (signal: AbortSignal) => PromiseLike<T>,
  { timeoutMs, createError, parent }: Deadline,
): Promise<T> {
  const abandonment = new AbortController();
  const { signal } = abandonment;
  const timer = setTimeout(() => abandonment.abort(createError()), timeoutMs);
  // Not `AbortSignal.any`, because Node.js 20 may collect its sources before they are aborted.
  const onParentAbort = () => abandonment.abort(parent?.reason);
  if (parent?.aborted) onParentAbort();
  // Node.js would warn of a leak when more than ten events are handled at a time.
  if (parent) setMaxListeners(0, parent);
  parent?.addEventListener("abort", onParentAbort, { once: true });
  try {
    signal.throwIfAborted();
    return await racePromiseWithAbort(Promise.resolve(work(signal)), signal);
  } finally {
    clearTimeout(timer);
    parent?.removeEventListener("abort", onParentAbort);
  }
}
