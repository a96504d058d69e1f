import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { KeyedUsageCounter } from "../limits/keyed-counter.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

interface UnreadResponseOwner {
  /** See `getSenderId`. */
  senderId: string;
  /** Whether an error may replace the response. False if the request may have changed data. */
  canReject: boolean;
  /** The node:http response. Undefined for internal requests from this process, whose senders read it immediately. */
  outgoing: ServerResponse | undefined;
}

/** Responses up to this size are not limited. The size is in bytes, or in characters if the body is text. */
export const minLargeResponseBytes = 256 * 1024;

/** Limits the total size of large responses that are in memory because clients have not yet read them. */
export class UnreadResponseLimiter {
  readonly #held = new KeyedUsageCounter();
  readonly #max: Pick<CommonServiceConfig, "UNREAD_RESPONSE_MAX_BYTES" | "UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION">;

  constructor(max: Pick<CommonServiceConfig, "UNREAD_RESPONSE_MAX_BYTES" | "UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION">) {
    this.#max = max;
  }

  /** The total size, in bytes, of the large responses that clients have not yet read. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** Throws if the unread responses of a sender have reached the limit per location. @throws `ApiError` rate_limited */
  requireCapacity(senderId: string): void {
    if (this.#held.get(senderId) >= this.#max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION)
      throw createTooManyUnreadError(this.#max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION);
  }

  /**
   * Returns the error for a further large response of a sender, if this response and the other unread responses
   * together exceed a limit: rate_limited or overloaded.
   */
  findCapacityError(bytes: number, senderId: string): ApiError | undefined {
    const senderBytes = this.#held.get(senderId);
    // Without other unread responses, a response above the limit is sent, because it could otherwise never be sent.
    if (senderBytes > 0 && senderBytes + bytes > this.#max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION)
      return createTooManyUnreadError(this.#max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION);
    if (this.heldBytes > 0 && this.heldBytes + bytes > this.#max.UNREAD_RESPONSE_MAX_BYTES)
      return createOverloadedError();
    return undefined;
  }

  /**
   * Counts a large response until the client has read it or disconnects. Counts a stream only if `streamMemoryBytes` is
   * set.
   *
   * @throws `ApiError` rate_limited or overloaded if `canReject` is true and `findCapacityError` returns this error.
   */
  trackResponse(
    { body, streamMemoryBytes = 0 }: RouteHandlerResponse,
    { senderId, canReject, outgoing }: UnreadResponseOwner,
  ): void {
    if (!outgoing || body === null) return;
    const isStream = body instanceof ReadableStream;
    if ((isStream ? streamMemoryBytes : body.length) <= minLargeResponseBytes) return;
    const bytes = isStream ? streamMemoryBytes : Buffer.byteLength(body);
    const error = canReject ? this.findCapacityError(bytes, senderId) : undefined;
    if (error) {
      if (isStream) body.cancel().catch(() => {});
      throw error;
    }
    if (outgoing.destroyed) return;
    this.#held.add(bytes, senderId);
    outgoing.once("close", () => this.#held.add(-bytes, senderId));
  }
}

function createTooManyUnreadError(maximum: number): ApiError {
  return new ApiError("rate_limited", {
    detail: `This location has reached its limit of ${maximum} bytes of unread responses. Read these responses first, or send fewer requests at the same time.`,
    limit: { name: "unread_reply_bytes", maximum, unit: "bytes" },
    headers: { "retry-after": "2" },
  });
}

function createOverloadedError(): ApiError {
  return new ApiError("overloaded", {
    detail: "The server has too many unread responses in memory. Retry shortly.",
  });
}
