import type { ServerResponse } from "node:http";
import { Admission, type Permit } from "./admission.ts";
import { locationLimits } from "./limits.ts";
import { minLargeResponseBytes, type UnreadResponseLimiter } from "./unread-response-limit.ts";

const readsOfProcess = new Admission(locationLimits.largeReadsOfProcess);

/** The maximum of an `integer` in PostgreSQL, which no body exceeds. */
const unlimitedBytes = 2 ** 31 - 1;

interface LargeRead {
  /** See `getSenderId`. */
  senderId: string;
  /** The size of the body. If it is not known before the body is read, a lower estimate. */
  bytes: number;
  /** The response of the request; undefined for internal requests from this process. */
  outgoing: ServerResponse | undefined;
}

/** A body, unless it exceeds the size up to which it was to be read. */
export interface SizeLimitedBody {
  /** The size in bytes, or a lower estimate, of a body that was not read; otherwise undefined. */
  omittedBytes?: number | undefined;
}

/**
 * Limits the memory of large bodies of single resources, from before they are read until clients have received them. Each
 * location reads one large body at a time, so that locations take turns. A body is read only if it may be sent.
 */
export class LargeReadLimiter {
  readonly #unreadResponses: UnreadResponseLimiter;
  readonly #reads = new Admission(locationLimits.largeReads);

  constructor(unreadResponses: UnreadResponseLimiter) {
    this.#unreadResponses = unreadResponses;
  }

  /**
   * Calls `read` with the maximum size of bodies that are not large. If the body is larger, calls `read` a second time,
   * without a maximum, as `run` does.
   */
  async readBody<T extends SizeLimitedBody | undefined>(
    read: (maxBytes: number) => Promise<T>,
    owner: Omit<LargeRead, "bytes">,
  ): Promise<T> {
    const found = await read(minLargeResponseBytes);
    if (found?.omittedBytes === undefined) return found;
    return this.run(() => read(unlimitedBytes), { ...owner, bytes: found.omittedBytes });
  }

  /**
   * Calls `read`, which reads a large body, as soon as the body may be in memory. Waits up to two seconds.
   *
   * @throws `ApiError` rate_limited if the location has too many large responses or requests, and overloaded if all
   * locations together have too many.
   */
  async run<T>(read: () => Promise<T>, { senderId, bytes, outgoing }: LargeRead): Promise<T> {
    const deadline = performance.now() + locationLimits.largeReads.maxWaitMs;
    const closing = new AbortController();
    const onClose = () => closing.abort();
    if (outgoing?.destroyed) onClose();
    outgoing?.once("close", onClose);
    const permits: Permit[] = [];
    const getWaitOptions = () => ({ signal: closing.signal, maxWaitMs: deadline - performance.now() });
    try {
      permits.push(await this.#reads.acquire(senderId, getWaitOptions()));
      await this.#unreadResponses.waitForCapacity(bytes, senderId, getWaitOptions());
      permits.push(await readsOfProcess.acquire("", getWaitOptions()));
      return await read();
    } finally {
      outgoing?.off("close", onClose);
      // Later than the caller continues, so that its response is counted before the next request checks the capacity.
      setImmediate(() => {
        for (const permit of permits) permit.release();
      });
    }
  }
}
