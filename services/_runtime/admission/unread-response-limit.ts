import type { ServerResponse } from "node:http";
import type { CommonServiceConfig } from "../config/runtime-config.ts";
import type { RouteHandlerResponse } from "../http/route-response.ts";
import { Admission, type PermitOptions } from "./admission.ts";
import { locationLimits } from "./limits.ts";

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
  readonly #bytes: Admission;

  constructor(max: Pick<CommonServiceConfig, "UNREAD_RESPONSE_MAX_BYTES" | "UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION">) {
    this.#bytes = new Admission({
      ...locationLimits.unreadResponseBytes,
      perSender: max.UNREAD_RESPONSE_MAX_BYTES_PER_LOCATION,
      perProcess: max.UNREAD_RESPONSE_MAX_BYTES,
    });
  }

  /** The total size, in bytes, of the large responses that clients have not yet read. */
  get heldBytes(): number {
    return this.#bytes.held;
  }

  /** Throws if the unread responses of a sender have reached the limit per location. @throws `ApiError` rate_limited */
  requireCapacity(senderId: string): void {
    const error = this.#bytes.findSenderError(senderId);
    if (error) throw error;
  }

  /** Waits until a further large response can be sent. @throws `ApiError` rate_limited, overloaded */
  async waitForCapacity(bytes: number, senderId: string, options: PermitOptions): Promise<void> {
    const permit = await this.#bytes.acquire(senderId, { ...options, cost: bytes });
    permit.release();
  }

  /**
   * Counts a large response until the client has read it or disconnects. Counts a stream only if `streamMemoryBytes` is
   * set.
   *
   * @throws `ApiError` rate_limited or overloaded if `canReject` is true and the response and the other unread responses
   * together exceed a limit.
   */
  trackResponse(
    { body, streamMemoryBytes = 0 }: RouteHandlerResponse,
    { senderId, canReject, outgoing }: UnreadResponseOwner,
  ): void {
    if (!outgoing || body === null) return;
    const isStream = body instanceof ReadableStream;
    if ((isStream ? streamMemoryBytes : body.length) <= minLargeResponseBytes) return;
    const bytes = isStream ? streamMemoryBytes : Buffer.byteLength(body);
    const error = canReject ? this.#bytes.findError(senderId, bytes) : undefined;
    if (error) {
      if (isStream) body.cancel().catch(() => {});
      throw error;
    }
    if (!outgoing.destroyed) outgoing.once("close", this.#bytes.add(senderId, bytes));
  }
}
