import { ApiError } from "@pragma/contracts/errors";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import { LRUCache } from "lru-cache";
import type { GatewayMiddleware } from "../server/gateway-request.ts";
import type { TokenLeaseStore } from "./token-lease-store.ts";

/** Whether a request is allowed, and the rate limit headers of its response. */
export interface RateLimitDecision {
  isAllowed: boolean;
  headers: Record<string, string>;
  /** 0 when the request is allowed. */
  retryAfterSeconds: number;
}

export type KeyRateLimiter = ReturnType<typeof createKeyRateLimiter>;

/** The maximum number of keys with a limit in memory; the least recently used one is dropped first. */
const maxTrackedKeys = 50_000;
/** The part of a burst that one gateway leases at a time. Each gateway may exceed the limit by that much. */
const leaseFraction = 1 / 10;

/** The rate limit of one key in this gateway. */
class KeyRateLimit {
  readonly keyId: string;
  /** Tokens that this gateway has leased from Redis and not yet spent. */
  leasedTokens = 0;
  /** A local estimate of the bucket in Redis. While Redis is unreachable, it is the only limit. */
  readonly sharedBucket: TokenBucket;
  /** The bucket in Redis is known to be empty until this time (milliseconds since the epoch). */
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
    const remaining = Math.min(burst, this.sharedBucket.getAvailable(now) + this.leasedTokens);
    const resetSeconds = Math.ceil((burst - remaining) / perSecond);
    const headers = {
      "ratelimit-limit": this.#limit,
      "ratelimit-policy": this.#policy,
      "ratelimit-remaining": String(Math.floor(remaining)),
      "ratelimit-reset": String(resetSeconds),
    };
    return {
      isAllowed,
      headers,
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(this.sharedBucket.getWaitMs(now) / 1000)),
    };
  }
}

/**
 * Limits requests by key, across all gateways. Each gateway leases a batch of a key's tokens from Redis, spends it
 * locally, and renews it before it is used up. So N gateways exceed a limit by at most one lease each, and only a key
 * near its limit waits for Redis. While Redis is unreachable, each gateway enforces the same limit on its own.
 */
export function createKeyRateLimiter(store: TokenLeaseStore, { defaultRate }: { defaultRate: TokenBucketRate }) {
  const limits = new LRUCache<string, KeyRateLimit, TokenBucketRate>({
    max: maxTrackedKeys,
    memoMethod: (keyId, _, { context: rate }) => new KeyRateLimit(keyId, rate, Date.now()),
  });

  function renewLease(limit: KeyRateLimit): void {
    if (limit.pendingRenewal || !store.isUp() || Date.now() < limit.emptyUntil) return;
    const requestedTokens = limit.leaseSize - limit.leasedTokens + limit.waitingRequests;
    limit.pendingRenewal = store
      .acquire(limit.keyId, limit.rate, requestedTokens)
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

  /** Decides by leased tokens and the local estimate; undefined when tokens must be leased from Redis first. */
  function decideLocally(limit: KeyRateLimit): RateLimitDecision | undefined {
    const now = Date.now();
    if (limit.leasedTokens >= 1) {
      limit.leasedTokens -= 1;
      if (limit.leasedTokens < limit.leaseSize / 2) renewLease(limit);
      return limit.decide(true, now);
    }
    if (!store.isUp()) return limit.decide(limit.sharedBucket.take(now), now);
    return now < limit.emptyUntil ? limit.decide(false, now) : undefined;
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
    /** Takes one token of the key; null means the default rate. Returns a promise when the key is near its limit. */
    acquire(keyId: string, rate: TokenBucketRate | null): RateLimitDecision | Promise<RateLimitDecision> {
      const currentRate = rate ?? defaultRate;
      const limit = limits.memo(keyId, { context: currentRate });
      const { burst, perSecond } = limit.rate;
      if (burst !== currentRate.burst || perSecond !== currentRate.perSecond) limit.setRate(currentRate);
      return decideLocally(limit) ?? decideWithRedis(limit);
    },
  };
}

/** Limits requests by their key, and adds the rate limit headers to every response. */
export function keyRateLimitMiddleware(limiter: KeyRateLimiter): GatewayMiddleware {
  return async (context, next) => {
    const { outgoing, key } = context.get("request");
    if (!key) throw new Error("The request is not authenticated.");
    const { isAllowed, headers, retryAfterSeconds } = await limiter.acquire(key.principal.keyId, key.rateLimit);
    for (const name in headers) outgoing.setHeader(name, headers[name] as string);
    if (isAllowed) return next();
    throw new ApiError("rate_limited", {
      detail: `This API key has used its burst of ${headers["ratelimit-limit"]} requests. Wait for the seconds in Retry-After.`,
      headers: { "retry-after": String(retryAfterSeconds) },
    });
  };
}
