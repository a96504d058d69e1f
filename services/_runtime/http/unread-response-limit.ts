import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import { KeyedUsageCounter } from "../limits/keyed-counter.ts";
import type { RouteHandlerResponse } from "./route-response.ts";

interface UnreadResponseOwner {
  keyId: string;
  /** False when the request has had its effect. */
  canReject: boolean;
  /** Undefined for requests of this process, which read the response at once. */
  outgoing: ServerResponse | undefined;
}

/** Responses up to this size are sent at once and not counted. */
const minTrackedBytes = 256 * 1024;

/** Limits the large responses that are held in memory until their clients have read them. */
export class UnreadResponseLimiter {
  readonly #held = new KeyedUsageCounter();
  readonly #max: Pick<CommonServiceConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">;

  constructor(max: Pick<CommonServiceConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">) {
    this.#max = max;
  }

  /** The bytes that are currently held. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** @throws `ApiError` rate_limited when the unread responses of an API key have reached its limit. */
  requireCapacity(keyId: string): void {
    if (this.#held.get(keyId) >= this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw createTooManyUnreadError(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
  }

  /**
   * Counts a large response until it is closed: the client has read it or disconnected.
   *
   * @throws `ApiError` rate_limited or overloaded when it exceeds a limit and `canReject` is set.
   */
  trackResponse({ body }: RouteHandlerResponse, { keyId, canReject, outgoing }: UnreadResponseOwner): void {
    if (!outgoing || body === null || body instanceof ReadableStream || body.length <= minTrackedBytes) return;
    const bytes = Buffer.byteLength(body);
    const keyBytes = this.#held.get(keyId);
    // A single response that is larger than a limit is still sent.
    if (canReject && keyBytes > 0 && keyBytes + bytes > this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw createTooManyUnreadError(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
    if (canReject && this.heldBytes > 0 && this.heldBytes + bytes > this.#max.UNREAD_REPLY_BYTES)
      throw createOverloadedError();
    if (outgoing.destroyed) return;
    this.#held.add(bytes, keyId);
    outgoing.once("close", () => this.#held.add(-bytes, keyId));
  }
}

function createTooManyUnreadError(maximum: number): ApiError {
  return new ApiError("rate_limited", {
    detail: `This API key has reached its limit of ${maximum} bytes of unread responses. Read those first, or send fewer requests at once.`,
    limit: { name: "unread_reply_bytes", maximum, unit: "bytes" },
    headers: { "retry-after": "2" },
  });
}

function createOverloadedError(): ApiError {
  return new ApiError("overloaded", {
    detail: "The server holds too many unread responses. Retry shortly.",
  });
}
