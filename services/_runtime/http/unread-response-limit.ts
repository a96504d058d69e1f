import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import type { RuntimeConfig } from "../config/runtime-config.ts";
import { KeyedCounter } from "../limits/keyed-counter.ts";
import type { RouteResponse } from "./route-response.ts";

interface UnreadResponseOwner {
  keyId: string;
  /** False for what has had its effect. */
  isRefusable: boolean;
  /** Undefined where code of this process asks: it takes the reply at once. */
  outgoing: ServerResponse | undefined;
}

/** Replies up to this size go out at once and are not counted. */
const minTrackedBytes = 256 * 1024;

/** Counts the large replies that are held in memory until their clients have taken them. */
export class UnreadResponseLimit {
  readonly #held = new KeyedCounter();
  readonly #max: Pick<RuntimeConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">;

  constructor(max: Pick<RuntimeConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">) {
    this.#max = max;
  }

  /** Bytes that are held now. */
  get heldBytes(): number {
    return this.#held.total;
  }

  /** @throws `ApiError` rate_limited when a key holds as much as it may already. */
  requireCapacity(keyId: string): void {
    if (this.#held.get(keyId) >= this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw createTooManyUnreadError(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
  }

  /**
   * Counts a reply with a large body until its response is closed: the client has taken it, or is gone.
   *
   * @throws `ApiError` rate_limited or overloaded when it does not fit and `isRefusable`.
   */
  trackResponse({ body }: RouteResponse, { keyId, isRefusable, outgoing }: UnreadResponseOwner): void {
    if (!outgoing || body === null || body instanceof ReadableStream || body.length <= minTrackedBytes) return;
    const bytes = Buffer.byteLength(body);
    const ofKey = this.#held.get(keyId);
    // A single reply that is larger than a limit is still sent.
    if (isRefusable && ofKey > 0 && ofKey + bytes > this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw createTooManyUnreadError(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
    if (isRefusable && this.heldBytes > 0 && this.heldBytes + bytes > this.#max.UNREAD_REPLY_BYTES)
      throw createOverloadedError();
    if (outgoing.destroyed) return;
    this.#held.add(bytes, keyId);
    outgoing.once("close", () => this.#held.add(-bytes, keyId));
  }
}

function createTooManyUnreadError(maximum: number): ApiError {
  return new ApiError("rate_limited", {
    detail: `This API key has replies of ${maximum} bytes that were not read yet. Read those first, or ask for fewer at once.`,
    limit: { name: "unread_reply_bytes", maximum, unit: "bytes" },
    headers: { "retry-after": "2" },
  });
}

function createOverloadedError(): ApiError {
  return new ApiError("overloaded", {
    detail: "More replies are waiting to be read than this server holds at once. Try again in a moment.",
  });
}
