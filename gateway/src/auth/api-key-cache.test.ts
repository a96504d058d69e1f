import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { CachedApiKey } from "../server/gateway-request.ts";
import { type ApiKeyCache, createApiKeyCache } from "./api-key-cache.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;

let nowMs = 0;
let cache: ApiKeyCache;
/** The lookups in progress. Each test decides when a lookup resolves or fails. */
let pendingLookups: { hash: string; succeed: (key: CachedApiKey | null) => Promise<void>; fail: () => Promise<void> }[];

afterEach(() => vi.restoreAllMocks());
beforeEach(() => {
  nowMs = 1_000_000;
  vi.spyOn(Date, "now").mockImplementation(() => nowMs);
  pendingLookups = [];
  cache = createApiKeyCache(
    (hash) =>
      new Promise((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setImmediate(done));
        pendingLookups.push({
          hash,
          succeed(key) {
            resolve(key);
            return settled();
          },
          fail() {
            reject(new Error("accounts is unreachable"));
            return settled();
          },
        });
      }),
  );
});

function createCachedApiKey(overrides: Partial<CachedApiKey> = {}): CachedApiKey {
  return {
    principal: {
      keyId: randomUUID(),
      consumer: "Acme",
      scopes: [],
      location: { id: "4d0f7c3e-6c3c-4f6e-9a0a-5f9a0c1b2d3e", application: "POPINA", legacyId: null, timeZone: "UTC" },
    },
    rateLimit: null,
    isRevoked: false,
    expiresAt: null,
    ...overrides,
  };
}

async function cacheKey(hash: string, key: CachedApiKey | null = createCachedApiKey()): Promise<CachedApiKey | null> {
  const lookup = cache.find(hash);
  await pendingLookups.at(-1)?.succeed(key);
  return lookup;
}

describe("the cache", () => {
  it("keeps the most recently used keys up to its maximum size", async () => {
    const lookups: string[] = [];
    const small = createApiKeyCache(
      async (hash) => {
        lookups.push(hash);
        return createCachedApiKey();
      },
      { maxKeys: 2 },
    );
    for (const hash of ["a", "b", "a", "c", "a", "b"]) await small.find(hash);
    expect(lookups).toEqual(["a", "b", "c", "b"]);
    expect(small.size).toBe(2);
  });
});

describe("a key", () => {
  it("is looked up once for concurrent requests and then cached", async () => {
    const lookup = [cache.find("a"), cache.find("a"), cache.find("a")];
    const key = createCachedApiKey();
    await pendingLookups[0]?.succeed(key);
    expect(await Promise.all(lookup)).toEqual([key, key, key]);
    expect(pendingLookups).toHaveLength(1);
    nowMs += 44 * secondMs;
    expect(cache.get("a")).toBe(key);
    expect(pendingLookups).toHaveLength(1);
  });

  it("expires after a minute", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("ages from the beginning of its lookup", async () => {
    const lookup = cache.find("a");
    nowMs += 10 * secondMs;
    await pendingLookups[0]?.succeed(createCachedApiKey());
    await lookup;
    nowMs += 50 * secondMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("in use is refreshed before it expires, and stays valid meanwhile", async () => {
    const key = await cacheKey("a");
    nowMs += 50 * secondMs;
    expect(cache.get("a")).toBe(key);
    expect(cache.get("a")).toBe(key);
    expect(pendingLookups).toHaveLength(2);
    const newer = createCachedApiKey();
    await pendingLookups[1]?.succeed(newer);
    nowMs += 40 * secondMs;
    expect(cache.get("a")).toBe(newer);
  });

  it("that does not exist is cached as unknown for a few seconds", async () => {
    await cacheKey("a", null);
    expect(cache.get("a")).toBeNull();
    nowMs += 6 * secondMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("that was unknown is looked up again once it is created", async () => {
    await cacheKey("a", null);
    cache.invalidateKey("a", false);
    expect(cache.get("a")).toBeUndefined();
  });
});

describe("while accounts is unreachable", () => {
  it("a cached key stays valid for five minutes", async () => {
    const key = await cacheKey("a");
    nowMs += minuteMs;
    const lookup = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    expect(await lookup).toBe(key);
    nowMs += 3 * minuteMs + 58 * secondMs;
    expect(cache.get("a")).toBe(key);
    nowMs += 3 * secondMs;
    expect(cache.get("a")).toBeUndefined();
    const rejection = expect(cache.find("a")).rejects.toThrow("accounts is unreachable");
    await pendingLookups.at(-1)?.fail();
    await rejection;
  });

  it("one lookup per second is attempted, not one lookup per request", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    const lookup = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    await lookup;
    const lookupsBefore = pendingLookups.length;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(pendingLookups).toHaveLength(lookupsBefore);
    await expect(cache.find("uncached")).rejects.toThrow("accounts is unreachable");
    expect(pendingLookups).toHaveLength(lookupsBefore);
    nowMs += secondMs;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(pendingLookups).toHaveLength(lookupsBefore + 1);
  });

  it("a revoked key becomes invalid", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    const lookup = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    await lookup;
    cache.invalidateKey("a", true);
    expect(cache.get("a")?.isRevoked).toBe(true);
  });

  it("an uncached key is rejected, and looked up again after the outage", async () => {
    const lookup = expect(cache.find("a")).rejects.toThrow("accounts is unreachable");
    await pendingLookups.at(-1)?.fail();
    await lookup;
    nowMs += secondMs;
    const key = createCachedApiKey();
    expect(await cacheKey("a", key)).toBe(key);
  });
});

describe("a change", () => {
  it("of a key removes that key from the cache", async () => {
    await cacheKey("a");
    await cacheKey("b");
    cache.invalidateKey("a", false);
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).not.toBeUndefined();
  });

  it("discards the result of a lookup that began before the change", async () => {
    const lookup = cache.find("a");
    cache.invalidateKey("a", true);
    await pendingLookups[0]?.succeed(createCachedApiKey());
    expect(cache.get("a")).toBeUndefined();
    const revoked = createCachedApiKey({ isRevoked: true });
    await pendingLookups[1]?.succeed(revoked);
    expect(await lookup).toBe(revoked);
    expect(cache.get("a")).toBe(revoked);
  });

  it("is visible to later calls while an earlier lookup is still in progress", async () => {
    const before = cache.find("a");
    cache.invalidateKey("a", true);
    const after = cache.find("a");
    const revoked = createCachedApiKey({ isRevoked: true });
    await pendingLookups[1]?.succeed(revoked);
    expect(await after).toBe(revoked);
    await pendingLookups[0]?.succeed(createCachedApiKey());
    expect(await before).toBe(revoked);
  });

  it("of a location removes only its keys from the cache", async () => {
    const other = createCachedApiKey();
    if (other.principal.location) other.principal.location.id = randomUUID();
    await cacheKey("a");
    await cacheKey("b", other);
    cache.invalidateLocation("4d0f7c3e-6c3c-4f6e-9a0a-5f9a0c1b2d3e");
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).toBe(other);
  });

  it("that may have been missed clears the cache and discards lookups in progress", async () => {
    await cacheKey("a");
    await cacheKey("none", null);
    const lookup = cache.find("b");
    cache.clear();
    await pendingLookups[2]?.succeed(createCachedApiKey());
    expect(["a", "b", "none"].map((hash) => cache.get(hash))).toEqual([undefined, undefined, undefined]);
    const key = createCachedApiKey();
    await pendingLookups[3]?.succeed(key);
    expect(await lookup).toBe(key);
  });
});
