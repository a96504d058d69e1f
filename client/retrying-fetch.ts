/** The built-in `fetch`, or a function that sends a request in the same way. */
export type FetchFunction = (request: Request) => Promise<Response>;

export interface RetryOptions {
  /** Maximum number of attempts after the first one. */
  retries: number;
  /** Resolves after the given time. Rejects if the signal is aborted during this time. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Returns a function that sends a request, and retries it after network errors and transient error responses. All
 * attempts have the same body and headers. The function returns the response of the last attempt, even if that is an
 * error response. It throws an error if the last attempt receives no response, or if the signal of the request is
 * aborted.
 */
export function createRetryingFetch(send: FetchFunction, { retries, wait }: RetryOptions): FetchFunction {
  return async (request) => {
    for (let retry = 0; ; retry++) {
      const isLast = retry === retries;
      // Every attempt except the last sends a copy of the request, because the body of a request can be read only once.
      const attempt = isLast ? request : request.clone();
      let delay: number | null;
      try {
        const response = await send(attempt);
        delay = isLast ? null : retryDelayMs(request, response, retry);
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

/** Resolves after a delay. Rejects with the signal's reason if the signal is aborted during the delay. */
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

/** The statuses of rate limits, timeouts and short outages. Proxies in front of the API can also return them. */
const transientStatuses = new Set([408, 429, 502, 503, 504]);

/** The methods that are idempotent in HTTP, and PATCH, which only sets the fields in the body to their values. */
const idempotentMethods = new Set(["GET", "HEAD", "PUT", "DELETE", "PATCH"]);

const minBackoffMs = 500;
const maxBackoffMs = 10_000;
/** Maximum `Retry-After` that is obeyed, in milliseconds. During a longer delay, the program would seem to hang. */
const maxRetryAfterMs = 60_000;

/** Returns the delay before the next retry in milliseconds, or null if the request must not be retried. */
function retryDelayMs(request: Request, response: Response, retry: number): number | null {
  const { status } = response;
  const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"));
  const isTransient =
    transientStatuses.has(status) ||
    (status === 500 && (idempotentMethods.has(request.method) || request.headers.has("idempotency-key"))) ||
    // Status 409 has a Retry-After header only if the conflict ends by itself, such as when an earlier request ends.
    (status === 409 && retryAfterMs !== null);
  if (!isTransient) return null;
  if (retryAfterMs === null) return backoffMs(retry);
  // The random addition prevents clients from retrying at the same time. The delay is never shorter than requested.
  return retryAfterMs > maxRetryAfterMs ? null : retryAfterMs + Math.random() * Math.max(250, retryAfterMs / 4);
}

/** Returns an exponential backoff in milliseconds, with jitter so that failed clients retry at different times. */
function backoffMs(retry: number): number {
  const maxDelayMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** retry);
  return maxDelayMs / 2 + Math.random() * (maxDelayMs / 2);
}

/** Returns the delay of a Retry-After header in milliseconds, or null if the header is missing or invalid. */
function parseRetryAfterMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const timestamp = Date.parse(retryAfter);
  return Number.isNaN(timestamp) ? null : Math.max(0, timestamp - Date.now());
}
