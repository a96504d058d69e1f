import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import type { RuntimeConfig } from "./config.ts";
import { CountByKey } from "./count-by-key.ts";
import type { Reply } from "./reply.ts";

interface Holder {
  keyId: string;
  /** False for what has had its effect. */
  isRefusable: boolean;
  /** Undefined where code of this process asks: it takes the reply at once. */
  outgoing: ServerResponse | undefined;
}

/** Replies up to this size go out at once and are not counted. */
const largeBytes = 256 * 1024;

/** Counts the large replies that are held in memory until their clients have taken them. */
export class ReplyBudget {
  readonly #held = new CountByKey();
  readonly #max: Pick<RuntimeConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">;

  constructor(max: Pick<RuntimeConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">) {
    this.#max = max;
  }

  /** Bytes that are held now. */
  get held(): number {
    return this.#held.total;
  }

  /** @throws `ApiError` rate_limited when a key holds as much as it may already. */
  requireRoom(keyId: string): void {
    if (this.#held.of(keyId) >= this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw tooManyUnread(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
  }

  /**
   * Counts a reply with a large body until its response is closed: the client has taken it, or is gone.
   *
   * @throws `ApiError` rate_limited or overloaded when it does not fit and `isRefusable`.
   */
  hold({ body }: Reply, { keyId, isRefusable, outgoing }: Holder): void {
    if (!outgoing || body === null || body instanceof ReadableStream || body.length <= largeBytes) return;
    const bytes = Buffer.byteLength(body);
    const ofKey = this.#held.of(keyId);
    // A single reply that is larger than a limit is still sent.
    if (isRefusable && ofKey > 0 && ofKey + bytes > this.#max.UNREAD_REPLY_BYTES_PER_KEY)
      throw tooManyUnread(this.#max.UNREAD_REPLY_BYTES_PER_KEY);
    if (isRefusable && this.held > 0 && this.held + bytes > this.#max.UNREAD_REPLY_BYTES) throw overloaded();
    if (outgoing.destroyed) return;
    this.#held.add(bytes, keyId);
    outgoing.once("close", () => this.#held.add(-bytes, keyId));
  }
}

function tooManyUnread(maximum: number): ApiError {
  return new ApiError("rate_limited", {
    detail: `This API key has replies of ${maximum} bytes that were not read yet. Read those first, or ask for fewer at once.`,
    limit: { name: "unread_reply_bytes", maximum, unit: "bytes" },
    headers: { "retry-after": "2" },
  });
}

function overloaded(): ApiError {
  return new ApiError("overloaded", {
    detail: "More replies are waiting to be read than this server holds at once. Try again in a moment.",
  });
}
