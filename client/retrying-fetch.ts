/** Sends one request: the built-in `fetch`, or one with the same manners. */
export type SendRequest = (request: Request) => Promise<Response>;

export interface RetryOptions {
  /** Attempts after the first; 0 for none. */
  retries: number;
  /** Waits so many milliseconds; rejects when the signal is given first. */
  wait: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
}

/**
 * Sends a request again, the same bytes under the same headers, after a network error and after a reply that stands for
 * a passing state. Gives the last reply, whatever it is; throws when the last attempt got none.
 */
export function createRetryingFetch(send: SendRequest, { retries, wait }: RetryOptions): SendRequest {
  return async (request) => {
    for (let retry = 0; ; retry++) {
      const isLast = retry === retries;
      // A request can be sent once: what is sent is a copy while there may be another time.
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

/** Waits, and throws the signal's reason once it is given. */
export function abortableDelay(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason);
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal.addEventListener("abort", stop, { once: true });
  });
}

/** Too many requests, and the replies of a service, or of what is before it, that cannot answer for a moment. */
const transientStatuses = new Set([408, 429, 502, 503, 504]);

const minBackoffMs = 500;
const maxBackoffMs = 10_000;
/** Of what the API asks for: a program that is told to wait longer wants to know rather than to hang. */
const maxRetryAfterMs = 60_000;

/** Milliseconds to wait before trying again; null when trying again is of no use. */
function retryDelayMs(response: Response, retry: number): number | null {
  const retryAfterMs = parseRetryAfterMs(response.headers.get("retry-after"));
  // A conflict that says when to come back: the first request with this Idempotency-Key is still being answered.
  const isTransient = transientStatuses.has(response.status) || (response.status === 409 && retryAfterMs !== null);
  if (!isTransient) return null;
  if (retryAfterMs === null) return backoffMs(retry);
  // Never before the time that was asked for, and not all clients at once after it.
  return retryAfterMs > maxRetryAfterMs ? null : retryAfterMs + Math.random() * Math.max(250, retryAfterMs / 4);
}

/** Milliseconds, twice as long each time; a random part keeps clients apart that failed together. */
function backoffMs(retry: number): number {
  const maxDelayMs = Math.min(maxBackoffMs, minBackoffMs * 2 ** retry);
  return maxDelayMs / 2 + Math.random() * (maxDelayMs / 2);
}

/** Milliseconds; null when the header is missing or is neither seconds nor a date. */
function parseRetryAfterMs(retryAfter: string | null): number | null {
  if (retryAfter === null) return null;
  if (/^\d+$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const at = Date.parse(retryAfter);
  return Number.isNaN(at) ? null : Math.max(0, at - Date.now());
}
