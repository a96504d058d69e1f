import { ApiError, type ApiErrorOptions } from "@pragma/contracts/errors";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { LRUCache } from "lru-cache";
import { getClientIpNetwork } from "../server/client-address.ts";

/** Maximum number of buckets in memory. When it is reached, the least recently used bucket is removed. */
const maxTrackedAddresses = 50_000;

/** A set of token buckets, one for each client network. */
export class ClientAddressTokenBuckets {
  readonly #buckets: LRUCache<string, TokenBucket>;
  readonly #now: () => number;

  constructor(rate: TokenBucketRate, now: () => number = Date.now) {
    this.#now = now;
    this.#buckets = new LRUCache({ max: maxTrackedAddresses, memoMethod: () => new TokenBucket(rate, now()) });
  }

  /**
   * Removes one token from the bucket of an address.
   *
   * @throws `ApiError` rate_limited, with `errorDetails`, if the bucket is empty.
   */
  takeOrThrow(address: string, errorDetails: Pick<ApiErrorOptions, "detail" | "limit">): void {
    const bucket = this.#buckets.memo(getClientIpNetwork(address));
    if (bucket.take(this.#now())) return;
    const retryAfterSeconds = Math.max(1, Math.ceil(bucket.getWaitMs(this.#now()) / 1000));
    throw new ApiError("rate_limited", { ...errorDetails, headers: { "retry-after": String(retryAfterSeconds) } });
  }

  refundToken(address: string): void {
    this.#buckets.memo(getClientIpNetwork(address)).refund(this.#now());
  }
}
