import { type Rate, TokenBucket } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";

/** What all endpoints at one host, whosever they are, may be sent by this process. */
export class HostRates {
  readonly #rate: Rate;
  readonly #buckets = new LRUCache<string, TokenBucket>({ max: 20_000 });

  constructor(rate: Rate) {
    this.#rate = rate;
  }

  bucketOf({ hostname }: URL): TokenBucket {
    const host = hostname.replace(/\.$/, "");
    const bucket = this.#buckets.get(host) ?? new TokenBucket(this.#rate, performance.now());
    this.#buckets.set(host, bucket);
    return bucket;
  }
}
