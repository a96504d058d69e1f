import type { ServerResponse } from "node:http";
import { ApiError } from "@pragma/contracts/errors";
import type { RuntimeConfig } from "./config.ts";
import type { Reply } from "./reply.ts";

/** Counts the large replies that are held in memory until their clients have taken them. */
export interface ReplyBudget {
  /** @throws `ApiError` rate_limited when a key holds as much as it may already. */
  requireRoom(keyId: string): void;
  /**
   * Counts a reply with a large body until its response is closed: the client has taken it, or is gone.
   *
   * @throws `ApiError` rate_limited or overloaded when it does not fit and `isRefusable`.
   */
  hold(reply: Reply, holder: Holder): void;
  /** Bytes that are held now. */
  readonly held: number;
}

interface Holder {
  keyId: string;
  /** False for what has had its effect. */
  isRefusable: boolean;
  /** Undefined where code of this process asks: it takes the reply at once. */
  outgoing: ServerResponse | undefined;
}

/** Replies up to this size go out at once and are not counted. */
const largeBytes = 256 * 1024;

export function createReplyBudget({
  UNREAD_REPLY_BYTES: maxBytes,
  UNREAD_REPLY_BYTES_PER_KEY: maxBytesPerKey,
}: Pick<RuntimeConfig, "UNREAD_REPLY_BYTES" | "UNREAD_REPLY_BYTES_PER_KEY">): ReplyBudget {
  const heldByKey = new Map<string, number>();
  let held = 0;

  function add(keyId: string, bytes: number): void {
    held += bytes;
    const ofKey = (heldByKey.get(keyId) ?? 0) + bytes;
    if (ofKey === 0) heldByKey.delete(keyId);
    else heldByKey.set(keyId, ofKey);
  }

  function refuseBeyond(keyId: string, bytes: number): void {
    const ofKey = heldByKey.get(keyId) ?? 0;
    // A single reply that is larger than the limit is still sent.
    if (ofKey > 0 && ofKey + bytes > maxBytesPerKey) throw tooManyUnread(maxBytesPerKey);
    if (held > 0 && held + bytes > maxBytes) throw overloaded();
  }

  return {
    requireRoom(keyId) {
      if ((heldByKey.get(keyId) ?? 0) >= maxBytesPerKey) throw tooManyUnread(maxBytesPerKey);
    },
    hold({ body }, { keyId, isRefusable, outgoing }) {
      if (!outgoing || body === null || body instanceof ReadableStream || body.length <= largeBytes) return;
      const bytes = typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
      if (isRefusable) refuseBeyond(keyId, bytes);
      if (outgoing.destroyed) return;
      add(keyId, bytes);
      outgoing.once("close", () => add(keyId, -bytes));
    },
    get held() {
      return held;
    },
  };
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
    headers: { "retry-after": "2" },
  });
}
