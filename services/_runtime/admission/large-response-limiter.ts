import type { ServerResponse } from "node:http";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import type { RouteHandlerResponse } from "../http/route-response.ts";
import { Admission, type Permit } from "./admission.ts";
import { locationLimits } from "./limits.ts";

const readsOfProcess = new Admission(locationLimits.largeReadsOfProcess);

/** Responses up to this size are not limited. The size is in bytes, or in characters if the body is text. */
export const minLargeResponseBytes = 256 * 1024;
/** The maximum of an `integer` in PostgreSQL, which no body exceeds. */
const unlimitedBytes = 2 ** 31 - 1;

interface ResponseOwner {
  /** See `getSenderId`. */
  senderId: string;
  /** The node:http response. Undefined for internal requests from this process, whose senders read it immediately. */
  outgoing: ServerResponse | undefined;
}

/** A body, unless it exceeds the size up to which it was to be read. */
export interface SizeLimitedBody {
  /** The size in bytes, or a lower estimate, of a body that was not read; otherwise undefined. */
  omittedBytes?: number | undefined;
}

/** Limits the memory of large responses, from before their bodies are read until clients have received them. */
export class LargeResponseLimiter {
  readonly #unreadBytes: Admission;
  readonly #reads = new Admission(locationLimits.largeReads);

  constructor(max: Pick<CommonServiceConfig, "UNREAD_RESPONSE_MAX_BYTES" | "UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION">) {
    this.#unreadBytes = new Admission({
      ...locationLimits.unreadResponseBytes,
      perSender: max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION,
      perProcess: max.UNREAD_RESPONSE_MAX_BYTES,
    });
  }

  get unreadBytes(): number {
    return this.#unreadBytes.held;
  }

  /** Throws if the unread responses of a sender have reached the limit per location. @throws `ApiError` rate_limited */
  requireCapacity(senderId: string): void {
    const error = this.#unreadBytes.findSenderError(senderId);
    if (error) throw error;
  }

  /** Calls `read` with the maximum size of small bodies, and again, as `readLargeBody` does, if the body is larger. */
  async readBody<T extends SizeLimitedBody | undefined>(
    read: (maxBytes: number) => Promise<T>,
    owner: ResponseOwner,
  ): Promise<T> {
    const found = await read(minLargeResponseBytes);
    if (found?.omittedBytes === undefined) return found;
    return this.readLargeBody(found.omittedBytes, () => read(unlimitedBytes), owner);
  }

  /** Calls `read` once a body of at least `bytes` may be in memory. @throws `ApiError` rate_limited, overloaded */
  async readLargeBody<T>(bytes: number, read: () => Promise<T>, { senderId, outgoing }: ResponseOwner): Promise<T> {
    const deadline = performance.now() + locationLimits.largeReads.maxWaitMs;
    const closing = new AbortController();
    const onClose = () => closing.abort();
    if (outgoing?.destroyed) onClose();
    outgoing?.once("close", onClose);
    const permits: Permit[] = [];
    const getWaitOptions = () => ({ signal: closing.signal, maxWaitMs: deadline - performance.now() });
    try {
      permits.push(await this.#reads.acquire(senderId, getWaitOptions()));
      const capacity = await this.#unreadBytes.acquire(senderId, { ...getWaitOptions(), cost: bytes });
      // `trackResponse` counts the response.
      capacity.release();
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

  /**
   * Counts a large response until the client has read it or disconnects; a stream only if `streamMemoryBytes` is set.
   * `canReject` is false if the request may have changed data.
   *
   * @throws `ApiError` rate_limited or overloaded if `canReject` is true and a limit is exceeded.
   */
  trackResponse(
    { body, streamMemoryBytes = 0 }: RouteHandlerResponse,
    { senderId, canReject, outgoing }: ResponseOwner & { canReject: boolean },
  ): void {
    if (!outgoing || body === null) return;
    const isStream = body instanceof ReadableStream;
    if ((isStream ? streamMemoryBytes : body.length) <= minLargeResponseBytes) return;
    const bytes = isStream ? streamMemoryBytes : Buffer.byteLength(body);
    const error = canReject ? this.#unreadBytes.findError(senderId, bytes) : undefined;
    if (error) {
      if (isStream) body.cancel().catch(() => {});
      throw error;
    }
    if (!outgoing.destroyed) outgoing.once("close", this.#unreadBytes.holdBeyondLimit(senderId, bytes));
  }
}
