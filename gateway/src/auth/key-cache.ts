import { ApiError } from "@pragma/contracts/errors";
import type { Principal } from "@pragma/contracts/principal";
import { ResolvedKey } from "@pragma/contracts/principal";
import type { TokenBucketRate } from "@pragma/runtime/limits/token-bucket";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { LRUCache } from "lru-cache";

/** What a key stands for. The principal is one object for as long as it is known, so that it is signed once a minute. */
export interface CachedApiKey {
  principal: Principal;
  /** The consumer's own limit; null for the one that every key has. */
  rateLimit: TokenBucketRate | null;
  isRevoked: boolean;
}

/** Remembers keys by their hash, so that accounts is asked once a minute and not once a request. */
export type ApiKeyCache = ReturnType<typeof createApiKeyCache>;

/** The look-up of a key at its source; null when there is none. */
export type ApiKeyLookup = (hash: string) => Promise<CachedApiKey | null>;

/** For how many lifetimes a key is good when accounts cannot be asked. */
const maxLifetimesDuringOutage = 5;
/** The part of its lifetime after which a key in use is looked up again, so that no request waits for it. */
const refreshAfterFraction = 3 / 4;
const unknownKeyTtlMs = 5_000;
/** While accounts is away it is asked once in this time, in milliseconds, and nobody else waits for it. */
const outageRetryMs = 1_000;
const maxCachedKeys = 20_000;

interface CacheEntry {
  key: CachedApiKey;
  lookedUpAt: number;
}

/** A look-up on its way. It is overtaken when something changes before it arrives, and is then worth nothing. */
interface PendingLookup {
  result: Promise<CachedApiKey | null>;
  isStale: boolean;
  /** Locations that were changed meanwhile: a key of one of them is looked up again. */
  changedLocations: Set<string>;
}

interface KeyCacheOptions {
  /** Milliseconds that a key is good for, from when its look-up began. */
  lifetimeMs?: number;
  now?: () => number;
}

export function createApiKeyCache(lookUp: ApiKeyLookup, { lifetimeMs = 60_000, now = Date.now }: KeyCacheOptions = {}) {
  const entries = new LRUCache<string, CacheEntry>({ max: maxCachedKeys });
  const unknownUntil = new LRUCache<string, number>({ max: maxCachedKeys });
  const pendingLookups = new Map<string, PendingLookup>();
  let outage: { error: unknown; until: number } | undefined;

  function startOrJoinLookup(hash: string): PendingLookup {
    const pending = pendingLookups.get(hash);
    if (pending) return pending;
    if (outage) outage.until = now() + outageRetryMs;
    const since = now();
    const flight: PendingLookup = {
      isStale: false,
      changedLocations: new Set(),
      result: lookUp(hash).then(handleResult, handleFailure),
    };
    flight.result.catch(() => {});
    pendingLookups.set(hash, flight);
    return flight;

    function removePending(): void {
      if (pendingLookups.get(hash) === flight) pendingLookups.delete(hash);
    }
    function handleResult(key: CachedApiKey | null): CachedApiKey | null {
      removePending();
      outage = undefined;
      if (key?.principal.location && flight.changedLocations.has(key.principal.location.id)) flight.isStale = true;
      if (flight.isStale) return key;
      entries.delete(hash);
      unknownUntil.delete(hash);
      if (key) entries.set(hash, { key, lookedUpAt: since });
      else unknownUntil.set(hash, now() + unknownKeyTtlMs);
      return key;
    }
    function handleFailure(error: unknown): never {
      removePending();
      outage = { error, until: now() + outageRetryMs };
      throw error;
    }
  }

  function invalidatePending(hash: string): void {
    const flight = pendingLookups.get(hash);
    if (flight) flight.isStale = true;
    pendingLookups.delete(hash);
  }

  /** The key, null when it is known that there is none, undefined when accounts must be asked. */
  function get(hash: string): CachedApiKey | null | undefined {
    const entry = entries.get(hash);
    if (!entry) return (unknownUntil.get(hash) ?? 0) > now() ? null : undefined;
    const age = now() - entry.lookedUpAt;
    if (age < lifetimeMs * refreshAfterFraction) return entry.key;
    if (age < lifetimeMs || (outage && age < lifetimeMs * maxLifetimesDuringOutage)) {
      if (!outage || now() >= outage.until) startOrJoinLookup(hash);
      return entry.key;
    }
    return undefined;
  }

  return {
    get,
    /**
     * Asks accounts, once for all who ask for the same key at the same time; null when there is none.
     *
     * @throws what the look-up throws, when accounts is away and the key was not seen lately.
     */
    async find(hash: string): Promise<CachedApiKey | null> {
      for (;;) {
        const cached = get(hash);
        if (cached !== undefined) return cached;
        if (outage && now() < outage.until && !pendingLookups.has(hash)) throw outage.error;
        const flight = startOrJoinLookup(hash);
        try {
          const key = await flight.result;
          if (!flight.isStale) return key;
        } catch (error) {
          const staleKey = get(hash);
          if (staleKey) return staleKey;
          throw error;
        }
      }
    },
    /** A key was made, changed or revoked: what is known of it is no longer so. */
    invalidateKey(hash: string, isRevoked: boolean): void {
      invalidatePending(hash);
      unknownUntil.delete(hash);
      const entry = entries.get(hash);
      entries.delete(hash);
      if (entry && isRevoked) entries.set(hash, { key: { ...entry.key, isRevoked }, lookedUpAt: now() });
    },
    /** A location was changed: the principals of its keys say what was. */
    invalidateLocation(locationId: string): void {
      for (const flight of pendingLookups.values()) flight.changedLocations.add(locationId);
      for (const [hash, { key }] of entries.entries()) {
        if (key.principal.location?.id === locationId) entries.delete(hash);
      }
    },
    /** Forgets everything: something may have changed without this process hearing of it. */
    clear(): void {
      for (const hash of [...pendingLookups.keys()]) invalidatePending(hash);
      entries.clear();
      unknownUntil.clear();
    },
    get size(): number {
      return entries.size;
    },
  };
}

const lookupTimeoutMs = 2_000;

/** Looks keys up at accounts. Rejects with service_unavailable when it cannot be asked, or not in time. */
export function createApiKeyLookup(registry: ServiceRegistry): ApiKeyLookup {
  return async (hash) => {
    try {
      const response = await registry.request("accounts", {
        from: "gateway",
        path: `/internal/keys/${hash}`,
        timeoutMs: lookupTimeoutMs,
      });
      if (response.status === 404) return null;
      if (response.status !== 200) throw new Error(`accounts answered ${response.status}: ${await response.text()}`);
      const { revokedAt, rateLimit, ...principal } = ResolvedKey.parse(await response.json());
      return { principal, rateLimit, isRevoked: revokedAt !== null };
    } catch (cause) {
      throw new ApiError("service_unavailable", {
        detail: "API keys cannot be checked at the moment. Nothing was done; try again in a moment.",
        cause,
      });
    }
  };
}
