import { ApiError } from "@pragma/contracts/errors";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import { LRUCache } from "lru-cache";
import type { GatewayMiddleware } from "../server/gateway-request.ts";
import type { TokenLeaseStore } from "./token-lease-store.ts";

/** Whether a request may pass, and what its response says of the limit. */
export interface RateLimitDecision {
  isAllowed: boolean;
  headers: Record<string, string>;
  /** Seconds until another try can pass. */
  retryAfterSeconds: number;
}

export type KeyRateLimiter = ReturnType<typeof createKeyRateLimiter>;

/** How many keys are counted at once; the one unused for longest is forgotten first. */
const maxTrackedKeys = 50_000;
/** The part of a burst that one gateway takes at a time: that much may be exceeded by each gateway. */
const leaseFraction = 1 / 10;

/** One key's limit, as one gateway knows it. */
class KeyRateLimit {
  readonly keyId: string;
  /** Tokens that are this gateway's to spend. */
  leasedTokens = 0;
  /** What is left for everybody, as last heard; all there is to go by when Redis is away. */
  readonly sharedBucket: TokenBucket;
  /** Until when asking for more is known to be in vain, in milliseconds. */
  emptyUntil = 0;
  waitingRequests = 0;
  pendingRenewal: Promise<void> | undefined;
  rate: TokenBucketRate;
  leaseSize = 1;
  #limit = "";
  #policy = "";

  constructor(keyId: string, rate: TokenBucketRate, now: number) {
    this.keyId = keyId;
    this.rate = rate;
    this.sharedBucket = new TokenBucket(rate, now);
    this.setRate(rate);
  }

  setRate(rate: TokenBucketRate): void {
    this.rate = rate;
    this.sharedBucket.rate = rate;
    this.leaseSize = Math.max(1, Math.ceil(rate.burst * leaseFraction));
    this.leasedTokens = Math.min(this.leasedTokens, this.leaseSize);
    const seconds = Math.ceil(rate.burst / rate.perSecond);
    this.#limit = String(rate.burst);
    this.#policy = `${rate.burst};w=${seconds}`;
  }

  decide(isAllowed: boolean, now: number): RateLimitDecision {
    const { burst, perSecond } = this.rate;
    const left = Math.min(burst, this.sharedBucket.getAvailable(now) + this.leasedTokens);
    const reset = Math.ceil((burst - left) / perSecond);
    const headers = {
      "ratelimit-limit": this.#limit,
      "ratelimit-policy": this.#policy,
      "ratelimit-remaining": String(Math.floor(left)),
      "ratelimit-reset": String(reset),
    };
    return {
      isAllowed,
      headers,
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(this.sharedBucket.getWaitMs(now) / 1000)),
    };
  }
}

/**
 * Limits requests by key, over all gateways. It counts in leases: each gateway takes a batch of a key's tokens from Redis and spends it without asking, taking the
 * next before the first is spent. So N gateways exceed a limit by at most one lease each, and only a key near its
 * limit waits for Redis. While Redis is away each gateway keeps to the same numbers alone.
 */
export function createKeyRateLimiter(store: TokenLeaseStore, { defaultRate }: { defaultRate: TokenBucketRate }) {
  const limits = new LRUCache<string, KeyRateLimit, TokenBucketRate>({
    max: maxTrackedKeys,
    memoMethod: (keyId, _, { context: rate }) => new KeyRateLimit(keyId, rate, Date.now()),
  });

  function renewLease(limit: KeyRateLimit): void {
    if (limit.pendingRenewal || !store.isUp() || Date.now() < limit.emptyUntil) return;
    const wanted = limit.leaseSize - limit.leasedTokens + limit.waitingRequests;
    limit.pendingRenewal = store
      .acquire(limit.keyId, limit.rate, wanted)
      .then(({ granted, remaining }) => {
        limit.leasedTokens += granted;
        limit.sharedBucket.setAvailable(remaining, Date.now());
        limit.emptyUntil = Date.now() + limit.sharedBucket.getWaitMs(Date.now());
      })
      .catch(() => {})
      .finally(() => {
        limit.pendingRenewal = undefined;
      });
  }

  /** The decision by what is known here; undefined when Redis must be asked. */
  function decideLocally(limit: KeyRateLimit): RateLimitDecision | undefined {
    const time = Date.now();
    if (limit.leasedTokens >= 1) {
      limit.leasedTokens -= 1;
      if (limit.leasedTokens < limit.leaseSize / 2) renewLease(limit);
      return limit.decide(true, time);
    }
    if (!store.isUp()) return limit.decide(limit.sharedBucket.take(time), time);
    return time < limit.emptyUntil ? limit.decide(false, time) : undefined;
  }

  async function decideWithRedis(limit: KeyRateLimit): Promise<RateLimitDecision> {
    limit.waitingRequests += 1;
    try {
      for (;;) {
        renewLease(limit);
        await limit.pendingRenewal;
        const decision = decideLocally(limit);
        if (decision) return decision;
      }
    } finally {
      limit.waitingRequests -= 1;
    }
  }

  return {
    /** Takes one request of the key's rate. Answers at once, unless the key is near its limit. */
    acquire(keyId: string, rate: TokenBucketRate | null): RateLimitDecision | Promise<RateLimitDecision> {
      const current = rate ?? defaultRate;
      const limit = limits.memo(keyId, { context: current });
      if (limit.rate.burst !== current.burst || limit.rate.perSecond !== current.perSecond) limit.setRate(current);
      return decideLocally(limit) ?? decideWithRedis(limit);
    },
  };
}

/** Limits requests by their key, and tells the client how it stands. */
export function keyRateLimitMiddleware(limiter: KeyRateLimiter): GatewayMiddleware {
  return async (context, next) => {
    const { outgoing, key } = context.get("request");
    if (!key) throw new Error("A request is limited once its key is known.");
    const { isAllowed, headers, retryAfterSeconds } = await limiter.acquire(key.principal.keyId, key.rateLimit);
    for (const name in headers) outgoing.setHeader(name, headers[name] as string);
    if (isAllowed) return next();
    throw new ApiError("rate_limited", {
      detail: `This key may make ${headers["ratelimit-limit"]} requests at once. Wait as many seconds as Retry-After says.`,
      headers: { "retry-after": String(retryAfterSeconds) },
    });
  };
}
