import { ApiError } from "@pragma/contracts/errors";
import { type Rate, TokenBucket } from "@pragma/runtime/token-bucket";
import { LRUCache } from "lru-cache";
import type { GatewayMiddleware } from "./gateway-request.ts";
import type { LeaseStore } from "./lease-store.ts";

/** Whether a request may pass, and what its response says of the limit. */
export interface RateLimitDecision {
  isAllowed: boolean;
  headers: Record<string, string>;
  /** Seconds until another try can pass. */
  retryAfter: number;
}

export type RateLimiter = ReturnType<typeof createRateLimiter>;

/** How many keys are counted at once; the one unused for longest is forgotten first. */
const maxKeys = 50_000;
/** The part of a burst that one gateway takes at a time: that much may be exceeded by each gateway. */
const leasePart = 1 / 10;

/** One key's limit, as one gateway knows it. */
class KeyLimit {
  readonly keyId: string;
  /** Tokens that are this gateway's to spend. */
  leased = 0;
  /** What is left for everybody, as last heard; all there is to go by when Redis is away. */
  readonly shared: TokenBucket;
  /** Until when asking for more is known to be in vain, in milliseconds. */
  emptyUntil = 0;
  waiting = 0;
  renewal: Promise<void> | undefined;
  rate: Rate;
  leaseSize = 1;
  #limit = "";
  #policy = "";

  constructor(keyId: string, rate: Rate, now: number) {
    this.keyId = keyId;
    this.rate = rate;
    this.shared = new TokenBucket(rate, now);
    this.change(rate);
  }

  change(rate: Rate): void {
    this.rate = rate;
    this.shared.rate = rate;
    this.leaseSize = Math.max(1, Math.ceil(rate.burst * leasePart));
    this.leased = Math.min(this.leased, this.leaseSize);
    const seconds = Math.ceil(rate.burst / rate.perSecond);
    this.#limit = String(rate.burst);
    this.#policy = `${rate.burst};w=${seconds}`;
  }

  decide(isAllowed: boolean, now: number): RateLimitDecision {
    const { burst, perSecond } = this.rate;
    const left = Math.min(burst, this.shared.left(now) + this.leased);
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
      retryAfter: isAllowed ? 0 : Math.max(1, Math.ceil(this.shared.wait(now) / 1000)),
    };
  }
}

/**
 * Limits requests by key, over all gateways. It counts in leases: each gateway takes a batch of a key's tokens from Redis and spends it without asking, taking the
 * next before the first is spent. So N gateways exceed a limit by at most one lease each, and only a key near its
 * limit waits for Redis. While Redis is away each gateway keeps to the same numbers alone.
 */
export function createRateLimiter(
  store: LeaseStore,
  { defaultRate, now = Date.now }: { defaultRate: Rate; now?: () => number },
) {
  const limits = new LRUCache<string, KeyLimit, Rate>({
    max: maxKeys,
    memoMethod: (keyId, _, { context: rate }) => new KeyLimit(keyId, rate, now()),
  });

  function renew(limit: KeyLimit): void {
    if (limit.renewal || !store.isUp() || now() < limit.emptyUntil) return;
    const wanted = limit.leaseSize - limit.leased + limit.waiting;
    limit.renewal = store
      .take(limit.keyId, limit.rate, wanted)
      .then(({ granted, left }) => {
        limit.leased += granted;
        limit.shared.set(left, now());
        limit.emptyUntil = now() + limit.shared.wait(now());
      })
      .catch(() => {})
      .finally(() => {
        limit.renewal = undefined;
      });
  }

  /** The decision by what is known here; undefined when Redis must be asked. */
  function decideLocally(limit: KeyLimit): RateLimitDecision | undefined {
    const time = now();
    if (limit.leased >= 1) {
      limit.leased -= 1;
      if (limit.leased < limit.leaseSize / 2) renew(limit);
      return limit.decide(true, time);
    }
    if (!store.isUp()) return limit.decide(limit.shared.take(time), time);
    return time < limit.emptyUntil ? limit.decide(false, time) : undefined;
  }

  async function decideWithRedis(limit: KeyLimit): Promise<RateLimitDecision> {
    limit.waiting += 1;
    try {
      for (;;) {
        renew(limit);
        await limit.renewal;
        const decision = decideLocally(limit);
        if (decision) return decision;
      }
    } finally {
      limit.waiting -= 1;
    }
  }

  return {
    /** Takes one request of the key's rate. Answers at once, unless the key is near its limit. */
    take(keyId: string, rate: Rate | null): RateLimitDecision | Promise<RateLimitDecision> {
      const current = rate ?? defaultRate;
      const limit = limits.memo(keyId, { context: current });
      if (limit.rate.burst !== current.burst || limit.rate.perSecond !== current.perSecond) limit.change(current);
      return decideLocally(limit) ?? decideWithRedis(limit);
    },
  };
}

/** Limits requests by their key, and tells the client how it stands. */
export function rateLimit(limiter: RateLimiter): GatewayMiddleware {
  return async (context, next) => {
    const { outgoing, key } = context.get("request");
    if (!key) throw new Error("A request is limited once its key is known.");
    const { isAllowed, headers, retryAfter } = await limiter.take(key.principal.keyId, key.rateLimit);
    for (const name in headers) outgoing.setHeader(name, headers[name] as string);
    if (isAllowed) return next();
    throw new ApiError("rate_limited", {
      detail: `This key may make ${headers["ratelimit-limit"]} requests at once. Wait as many seconds as Retry-After says.`,
      headers: { "retry-after": String(retryAfter) },
    });
  };
}
