/** Sends one request: the built-in `fetch` or a compatible function. */
export type FetchFunction = (request: Request) => Promise<Response>;

export interface RetryOptions {
  /** The maximum number of attempts after the first. */
  retries: number;
  /** Resolves after the given time; rejects when the signal is aborted first. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Returns a function that retries requests after network errors and transient error responses, with the same bytes and
 * headers. It returns the last response, whatever its status, and throws when the last attempt got no response.
 */
export function createRetryingFetch(send: FetchFunction, { retries, wait }: RetryOptions): FetchFunction {
  return async (request) => {
    for (let retry = 0; ; retry++) {
      const isLast = retry === retries;
      // The body of a request can be read only once, so every attempt but the last sends a copy.
      const attempt = isLast ? request : request.clone();
      let delay: number | null;
      try {
        const response = await send(attempt);
        delay = isLast ? null : retryDelayMs(response, retry);
        if (delay === null) return response;
        await response.body?.cancel();
      } catch (cause) {
        if (isLast || request.signal.aborted) throw cause;
        delay = backoffMs(retry);
      }
      await wait(delay, request.signal);
    }
  };
}

/** Resolves after a delay; rejects with the signal's reason when it is aborted first. */
export function abortableDelay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const onAbort = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", onAbort);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", onAbort, { once: true });
  });
}

/** Statuses of rate limits, timeouts and short outages, also of proxies in front of the API. */
const transientStatuses = new Set([408, 429, 502, 503, 504]);

const minBackoffMs = 500;
const maxBackoffMs = 10_000;
/** With a longer Retry-After, the response is returned at once, so that the program does not seem to hang. */
const maxRetryAfterMs = 60_000;

/** Returns the delay before the next retry; null when the response must not be retried. */
function retryDelayMs(response: Response, retry: number): number | null {
  const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"));
  // A conflict with Retry-After: the first request with this Idempotency-Key is still being processed.
  const isTransient = transientStatuses.has(response.status) || (response.status === 409 && retryAfterMs !== null);
  if (!isTransient) return null;
  if (retryAfterMs === null) return backoffMs(retry);
  // Never earlier than requested; the random part spreads the retries of many clients.
  return retryAfterMs > maxRetryAfterMs ? null : retryAfterMs + Math.random() * Math.max(250, retryAfterMs / 4);
}

/** Returns an exponential backoff with jitter, which spreads the retries of clients that failed at the same time. */
function backoffMs(retry: number): number {
  const maxDelayMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** retry);
  return maxDelayMs / 2 + Math.random() * (maxDelayMs / 2);
}

/** Returns null when the header is missing or is neither seconds nor a date. */
function parseRetryAfterMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const timestamp = Date.parse(retryAfter);
  return Number.isNaN(timestamp) ? null : Math.max(0, timestamp - Date.now());
}
