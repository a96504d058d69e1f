import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { LRUCache } from "lru-cache";

/**
 * Returns the token bucket of a URL's host. The bucket limits the messages that this process sends to the host. All
 * endpoints on the host share the bucket, including endpoints of different locations.
 */
export type WebhookHostTokenBucketLookup = (url: URL) => TokenBucket;

export function createHostTokenBuckets(rate: TokenBucketRate): WebhookHostTokenBucketLookup {
  const memoMethod = () => new TokenBucket(rate, performance.now());
  const buckets = new LRUCache<string, TokenBucket>({ max: 20_000, memoMethod });
  return ({ hostname }) => buckets.memo(hostname.replace(/\.$/, ""));
}
