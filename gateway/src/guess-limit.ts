import { ApiError } from "@pragma/contracts/errors";
import { LRUCache } from "lru-cache";
import { networkOf } from "./caller.ts";
import { type Rate, TokenBucket } from "./token-bucket.ts";

/** Limits how often one address may present keys that are not good, so that keys cannot be guessed at speed. */
export interface GuessLimit {
  /**
   * Takes one guess of an address, to be given back when the key turns out to be good.
   *
   * @throws `ApiError` rate_limited when it has none left.
   */
  take(address: string): void;
  giveBack(address: string): void;
}

/** How many addresses are remembered; the one unused for longest is forgotten first. */
const mostAddresses = 50_000;

export function createGuessLimit(rate: Rate, now: () => number = Date.now): GuessLimit {
  const buckets = new LRUCache<string, TokenBucket>({ max: mostAddresses });

  function bucketOf(address: string): TokenBucket {
    const network = networkOf(address);
    const bucket = buckets.get(network) ?? new TokenBucket(rate, now());
    buckets.set(network, bucket);
    return bucket;
  }

  return {
    take(address) {
      const bucket = bucketOf(address);
      if (bucket.take(now())) return;
      throw new ApiError("rate_limited", {
        detail: "Too many requests with keys that are not good came from this address.",
        headers: { "retry-after": String(Math.max(1, Math.ceil(bucket.wait(now()) / 1000))) },
      });
    },
    giveBack: (address) => bucketOf(address).giveBack(now()),
  };
}
