import { ApiError } from "@pragma/contracts/errors";
import { ResolvedApiKey } from "@pragma/contracts/principal";
import type { ServiceRegistry } from "@pragma/runtime/service-calls/service-registry";
import { LRUCache } from "lru-cache";
import type { CachedApiKey } from "../server/gateway-request.ts";

/** Caches API keys by their hash, so that each key is looked up in accounts about once a minute, not per request. */
export type ApiKeyCache = ReturnType<typeof createApiKeyCache>;

/** While the accounts service is unreachable, a cached key stays valid for this multiple of its normal lifetime. */
const maxLifetimesDuringOutage = 5;
/**
 * After this fraction of a key's lifetime, the next use of the key starts a lookup in the background, so that requests
 * with a frequently used key do not wait for lookups.
 */
const refreshAfterFraction = 3 / 4;
const unknownKeyTtlMs = 5_000;
const lookupTimeoutMs = 2_000;
/**
 * Milliseconds between two lookups while the accounts service is unreachable. In between, requests with uncached keys
 * fail without a lookup.
 */
const outageRetryMs = 1_000;

interface CacheEntry {
  key: CachedApiKey;
  lookedUpAt: number;
}

/** A lookup in progress. If the key changes before the result arrives, the result is stale and is not cached. */
interface PendingLookup {
  result: Promise<CachedApiKey | null>;
  isStale: boolean;
  /** Locations that have changed since the lookup began. If the key's location is one of them, the result is stale. */
  changedLocations: Set<string>;
}

interface KeyCacheOptions {
  /** Milliseconds for which a key is cached, counted from the start of its lookup. */
  lifetimeMs?: number;
  /** Maximum number of cached keys, and of hashes that are cached as unknown. */
  maxKeys?: number;
}

export function createApiKeyCache(
  lookUp: (hash: string) => Promise<CachedApiKey | null>,
  { lifetimeMs = 60_000, maxKeys = 20_000 }: KeyCacheOptions = {},
) {
  const entries = new LRUCache<string, CacheEntry>({ max: maxKeys });
  const unknownUntil = new LRUCache<string, number>({ max: maxKeys });
  const pendingLookups = new Map<string, PendingLookup>();
  let outage: { error: unknown; until: number } | undefined;

  function startOrJoinLookup(hash: string): PendingLookup {
    const pending = pendingLookups.get(hash);
    if (pending) return pending;
    if (outage) outage.until = Date.now() + outageRetryMs;
    const startedAt = Date.now();
    const lookup: PendingLookup = {
      isStale: false,
      changedLocations: new Set(),
      result: lookUp(hash).then(handleResult, handleFailure),
    };
    lookup.result.catch(() => {});
    pendingLookups.set(hash, lookup);
    return lookup;

    function removePending(): void {
      if (pendingLookups.get(hash) === lookup) pendingLookups.delete(hash);
    }
    function handleResult(key: CachedApiKey | null): CachedApiKey | null {
      removePending();
      outage = undefined;
      if (key?.principal.location && lookup.changedLocations.has(key.principal.location.id)) lookup.isStale = true;
      if (lookup.isStale) return key;
      entries.delete(hash);
      unknownUntil.delete(hash);
      if (key) entries.set(hash, { key, lookedUpAt: startedAt });
      else unknownUntil.set(hash, Date.now() + unknownKeyTtlMs);
      return key;
    }
    function handleFailure(error: unknown): never {
      removePending();
      outage = { error, until: Date.now() + outageRetryMs };
      throw error;
    }
  }

  function invalidatePending(hash: string): void {
    const lookup = pendingLookups.get(hash);
    if (lookup) lookup.isStale = true;
    pendingLookups.delete(hash);
  }

  /** Returns the cached key; null for a key that is cached as nonexistent; undefined if nothing is cached. */
  function get(hash: string): CachedApiKey | null | undefined {
    const entry = entries.get(hash);
    if (!entry) return (unknownUntil.get(hash) ?? 0) > Date.now() ? null : undefined;
    const age = Date.now() - entry.lookedUpAt;
    if (age < lifetimeMs * refreshAfterFraction) return entry.key;
    if (age < lifetimeMs || (outage && age < lifetimeMs * maxLifetimesDuringOutage)) {
      if (!outage || Date.now() >= outage.until) startOrJoinLookup(hash);
      return entry.key;
    }
    return undefined;
  }

  return {
    get,
    /**
     * Returns the key from the cache or from accounts, or null if the key does not exist. Concurrent calls for the same
     * key share one lookup.
     *
     * @throws the error of the last failed lookup if accounts is unreachable and no usable copy of the key is cached.
     */
    async find(hash: string): Promise<CachedApiKey | null> {
      for (;;) {
        const cached = get(hash);
        if (cached !== undefined) return cached;
        if (outage && Date.now() < outage.until && !pendingLookups.has(hash)) throw outage.error;
        const lookup = startOrJoinLookup(hash);
        try {
          const key = await lookup.result;
          if (!lookup.isStale) return key;
        } catch (error) {
          const staleKey = get(hash);
          if (staleKey) return staleKey;
          throw error;
        }
      }
    },
    /** Removes the cached lookup result of a created or changed key. A revoked key stays cached, marked as revoked. */
    invalidateKey(hash: string, isRevoked: boolean): void {
      invalidatePending(hash);
      unknownUntil.delete(hash);
      const entry = entries.get(hash);
      entries.delete(hash);
      if (entry && isRevoked) entries.set(hash, { key: { ...entry.key, isRevoked }, lookedUpAt: Date.now() });
    },
    /** Removes all keys of a changed location, because their principals contain the location's old data. */
    invalidateLocation(locationId: string): void {
      for (const lookup of pendingLookups.values()) lookup.changedLocations.add(locationId);
      for (const [hash, { key }] of entries.entries()) {
        if (key.principal.location?.id === locationId) entries.delete(hash);
      }
    },
    /** Removes all keys. Required when this gateway may have missed the events of changed keys. */
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

/**
 * Looks up an API key, by its hash, in the accounts service. Returns null if the key does not exist.
 *
 * @throws `ApiError` service_unavailable if the lookup fails or times out.
 */
export async function lookUpApiKey(registry: ServiceRegistry, hash: string): Promise<CachedApiKey | null> {
  try {
    const response = await registry.request("accounts", {
      from: "gateway",
      path: `/internal/keys/${hash}`,
      timeoutMs: lookupTimeoutMs,
      shouldWaitForConnection: true,
    });
    if (response.status === 404) return null;
    if (response.status !== 200) throw new Error(`accounts responded ${response.status}: ${await response.text()}`);
    const { revokedAt, expiresAt, rateLimit, ...principal } = ResolvedApiKey.parse(await response.json());
    const isRevoked = revokedAt !== null;
    return { principal, rateLimit, isRevoked, expiresAt: expiresAt === null ? null : Date.parse(expiresAt) };
  } catch (cause) {
    throw new ApiError("service_unavailable", {
      detail: "API keys cannot be verified at the moment. The request was not processed. Retry shortly.",
      cause,
    });
  }
}
