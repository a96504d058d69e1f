import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import { racePromiseWithAbort } from "../concurrency/race-promise-with-abort.ts";
import { createKeyedSemaphore, type KeyedSemaphore } from "../concurrency/semaphore.ts";
import { sleep } from "../concurrency/sleep.ts";
import { KeyedUsageCounter } from "../limits/keyed-counter.ts";
import { minLargeResponseBytes, type UnreadResponseLimiter } from "./unread-response-limit.ts";

/**
 * The number of large bodies that all locations together read at a time in this process. While a body is read, it uses
 * several times its size: as it is stored, decompressed, and as a copy.
 */
const maxConcurrentReads = 2;
const processSemaphore = createKeyedSemaphore(maxConcurrentReads);

/** Further requests of a location are rejected, because each waiting request occupies a connection of the gateway. */
const maxWaitingPerLocation = 16;
const maxWaitMs = 2_000;
const capacityCheckMs = 25;

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
  readonly #locationSemaphore = createKeyedSemaphore(1);
  readonly #requests = new KeyedUsageCounter();

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
    if (this.#requests.get(senderId) > maxWaitingPerLocation) throw createTooManyLargeReadsError();
    this.#requests.add(1, senderId);
    const waiting = new AbortController();
    const stopWaiting = () => waiting.abort();
    const timer = setTimeout(stopWaiting, maxWaitMs);
    if (outgoing?.destroyed) stopWaiting();
    outgoing?.once("close", stopWaiting);
    const releases: (() => void)[] = [];
    try {
      releases.push(await acquire(this.#locationSemaphore, senderId, waiting.signal, createTooManyLargeReadsError));
      await this.#waitForCapacity({ senderId, bytes }, waiting.signal);
      releases.push(await acquire(processSemaphore, "", waiting.signal, createOverloadedError));
      clearTimeout(timer);
      return await read();
    } finally {
      clearTimeout(timer);
      outgoing?.off("close", stopWaiting);
      this.#requests.add(-1, senderId);
      // Later than the caller continues, so that its response is counted before the next request checks the capacity.
      setImmediate(() => {
        for (const release of releases) release();
      });
    }
  }

  async #waitForCapacity(
    { senderId, bytes }: Pick<LargeRead, "senderId" | "bytes">,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const error = this.#unreadResponses.findCapacityError(bytes, senderId);
      if (!error) return;
      if (signal.aborted) throw error;
      await sleep(capacityCheckMs);
    }
  }
}

/** Waits for a permit. @throws the error that `createError` returns if the signal is aborted first. */
async function acquire(
  semaphore: KeyedSemaphore,
  key: string,
  signal: AbortSignal,
  createError: () => ApiError,
): Promise<() => void> {
  const acquiring = semaphore.acquire(key);
  return racePromiseWithAbort(acquiring, signal).catch(async () => {
    void acquiring.then((release) => release());
    throw createError();
  });
}

function createTooManyLargeReadsError(): ApiError {
  return new ApiError("rate_limited", {
    detail: `This location is requesting too many large responses at the same time. One is created at a time, and up to ${maxWaitingPerLocation} requests wait for up to ${maxWaitMs / 1_000} seconds. Send fewer requests at the same time.`,
    limit: { name: "concurrent_large_reads", maximum: maxWaitingPerLocation, unit: "requests" },
    headers: { "retry-after": "2" },
  });
}

function createOverloadedError(): ApiError {
  return new ApiError("overloaded", { detail: "The server is creating too many large responses. Retry shortly." });
}
