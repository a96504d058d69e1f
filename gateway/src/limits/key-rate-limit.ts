import { keyExpiryNoticeMs } from "@pragma/contracts/api-consumer";
import { ApiError } from "@pragma/contracts/errors";
import { recordSender } from "@pragma/runtime/admission/contention";
import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { getSenderId } from "@pragma/runtime/http/request-identity";
import { LRUCache } from "lru-cache";
import type { ApiKeyAuthenticator } from "../auth/authenticate.ts";
import type { CachedApiKey, GatewayMiddleware, GatewayRequestState } from "../server/gateway-request.ts";
import type { RateLimitLeaseStore } from "./token-lease-store.ts";

export type RateLimitDecision = ReturnType<KeyRateLimit["decide"]>;

/** Maximum number of keys whose limit is in memory. When it is reached, the least recently used key is removed. */
const maxTrackedKeys = 50_000;
/** The fraction of a burst that a gateway leases at a time. Each gateway can exceed the limit by this fraction. */
const leaseFraction = 1 / 10;

/** The state of one key's rate limit in this gateway. */
class KeyRateLimit {
  readonly keyId: string;
  /** The number of tokens that this gateway has leased from Redis but has not used yet. */
  leasedTokens = 0;
  /** A local estimate of the token bucket in Redis. While Redis is unreachable, this bucket enforces the limit. */
  readonly sharedBucket: TokenBucket;
  /** The time until which the bucket in Redis is certainly empty, in milliseconds since the epoch. */
  emptyUntil = 0;
  waitingRequests = 0;
  pendingRenewal: Promise<void> | undefined;
  rate: TokenBucketRate;

  constructor(keyId: string, rate: TokenBucketRate, now: number) {
    this.keyId = keyId;
    this.rate = rate;
    this.sharedBucket = new TokenBucket(rate, now);
  }

  get leaseSize(): number {
    return Math.max(1, Math.ceil(this.rate.burst * leaseFraction));
  }

  setRate(rate: TokenBucketRate): void {
    this.rate = rate;
    this.sharedBucket.rate = rate;
    this.leasedTokens = Math.min(this.leasedTokens, this.leaseSize);
  }

  /** Returns whether a request is allowed, with the rate limit headers of its response. */
  decide(isAllowed: boolean, now: number) {
    const { burst, perSecond } = this.rate;
    const remaining = Math.min(burst, this.sharedBucket.getAvailable(now) + this.leasedTokens);
    return {
      isAllowed,
      headers: {
        "ratelimit-limit": String(burst),
        "ratelimit-policy": `${burst};w=${Math.ceil(burst / perSecond)}`,
        "ratelimit-remaining": String(Math.floor(remaining)),
        "ratelimit-reset": String(Math.ceil((burst - remaining) / perSecond)),
      },
      /** The value of Retry-After, or 0 if the request is allowed. */
      retryAfterSeconds: isAllowed ? 0 : Math.max(1, Math.ceil(this.sharedBucket.getWaitMs(now) / 1000)),
    };
  }
}

/**
 * Creates a limiter of requests per API key, across all gateways. Each gateway leases a batch of a key's tokens from
 * Redis, uses the tokens locally, and renews the lease before all tokens are used. Each gateway can therefore exceed
 * the limit by at most one lease. A request waits for Redis only if the gateway has no leased token for its key, for
 * example because it is the first request with the key. While Redis is unreachable, each gateway enforces the whole
 * limit locally.
 */
export function createApiKeyRateLimiter(store: RateLimitLeaseStore, { defaultRate }: { defaultRate: TokenBucketRate }) {
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

  /** Decides whether to allow a request, without Redis. Returns undefined if tokens must be leased from Redis first. */
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
    /** Uses one token of a key. Without a `rate`, the default rate applies. Returns a promise if it waits for Redis. */
    acquire(keyId: string, rate: TokenBucketRate | null): RateLimitDecision | Promise<RateLimitDecision> {
      const currentRate = rate ?? defaultRate;
      const limit = limits.memo(keyId, { context: currentRate });
      const { burst, perSecond } = limit.rate;
      if (burst !== currentRate.burst || perSecond !== currentRate.perSecond) limit.setRate(currentRate);
      return decideLocally(limit) ?? decideWithRedis(limit);
    },
  };
}

export type RequestRateLimiter = ReturnType<typeof createRequestRateLimiter>;

/**
 * Creates a limiter of requests per API key and per location, so that more keys do not multiply the limit. The rate of a
 * sandbox is that of a day.
 */
export function createRequestRateLimiter(
  store: RateLimitLeaseStore,
  { defaultRate, locationRate, sandboxRate }: Record<"defaultRate" | "locationRate" | "sandboxRate", TokenBucketRate>,
) {
  const keys = createApiKeyRateLimiter(store, { defaultRate });
  const locations = createApiKeyRateLimiter(store, { defaultRate: locationRate });
  return {
    /**
     * Uses one token of a key and, if the key has one, a token of its location. Otherwise, a key that sends too many
     * requests would use up the limit of the other keys.
     */
    async acquire({ principal, rateLimit }: Pick<CachedApiKey, "principal" | "rateLimit">) {
      const { keyId, location } = principal;
      const ofKey = await keys.acquire(keyId, rateLimit);
      // Only an operator can grant a key a higher rate.
      const isCounted = location && (location.isSandbox || (rateLimit?.perSecond ?? 0) <= locationRate.perSecond);
      const ofLocation =
        isCounted && ofKey.isAllowed
          ? await locations.acquire(`location:${location.id}`, location.isSandbox ? sandboxRate : null)
          : undefined;
      return chooseNearer(ofKey, ofLocation);
    },
  };
}

/** Returns the decision of the limit that is nearer: that of the key, or that of all keys of its location. */
function chooseNearer(ofKey: RateLimitDecision, ofLocation: RateLimitDecision | undefined) {
  const remaining = ({ headers }: RateLimitDecision) => Number(headers["ratelimit-remaining"]);
  const isOfLocation =
    ofLocation !== undefined &&
    (ofKey.isAllowed === ofLocation.isAllowed ? remaining(ofLocation) < remaining(ofKey) : ofKey.isAllowed);
  return { ...(isOfLocation ? ofLocation : ofKey), isOfLocation };
}

/**
 * Uses one token of the API key of an authenticated request and of its location, and sets the rate limit headers.
 *
 * @throws `ApiError` rate_limited if the key or the location has no token.
 */
export async function takeRateLimitToken(
  limiter: RequestRateLimiter,
  { key, outgoing }: Pick<GatewayRequestState, "key" | "outgoing">,
): Promise<void> {
  if (!key) throw new Error("The request is not authenticated.");
  const { isAllowed, headers, retryAfterSeconds, isOfLocation } = await limiter.acquire(key);
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
  if (isAllowed) return;
  if (isOfLocation && key.principal.location?.isSandbox)
    throw new ApiError("rate_limited", {
      detail: `The API keys of this sandbox together have sent the ${headers["ratelimit-limit"]} requests that a sandbox may send in a day. More are allowed as time passes: wait for the number of seconds in Retry-After.`,
      limit: { name: "sandbox_requests", maximum: Number(headers["ratelimit-limit"]), unit: "requests per day" },
      headers: { "retry-after": String(retryAfterSeconds) },
    });
  throw new ApiError("rate_limited", {
    detail: `${isOfLocation ? "The API keys of this location together have exceeded their" : "This API key has exceeded its"} rate limit, which allows bursts of up to ${headers["ratelimit-limit"]} requests. Wait for the number of seconds in Retry-After.`,
    ...(isOfLocation && {
      limit: { name: "location_requests", maximum: Number(headers["ratelimit-limit"]), unit: "requests" },
    }),
    headers: { "retry-after": String(retryAfterSeconds) },
  });
}

/** Sets the header with the time at which the key expires, if that is soon. */
function announceExpiry({ expiresAt }: CachedApiKey, outgoing: GatewayRequestState["outgoing"]): void {
  if (expiresAt !== null && expiresAt - Date.now() < keyExpiryNoticeMs)
    outgoing.setHeader("api-key-expires-at", new Date(expiresAt).toISOString());
}

/** Returns middleware that authenticates requests by their API key, and limits them by their key and location. */
export function createKeyCheck(authenticate: ApiKeyAuthenticator, limiter: RequestRateLimiter): GatewayMiddleware {
  return async (context, next) => {
    const request = context.get("request");
    request.key = await authenticate(request.incoming.headers.authorization, () => request.clientAddress);
    announceExpiry(request.key, request.outgoing);
    await takeRateLimitToken(limiter, request);
    // Requests to services in other processes are work of this process, too.
    recordSender(getSenderId(request.key.principal));
    return next();
  };
}
