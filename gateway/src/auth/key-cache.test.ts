import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { type ApiKeyCache, type CachedApiKey, createApiKeyCache } from "./key-cache.ts";

const secondMs = 1000;
const minuteMs = 60 * secondMs;

let nowMs = 0;
let cache: ApiKeyCache;
/** Look-ups on their way, each to be answered by the test. */
let pendingLookups: { hash: string; answer: (key: CachedApiKey | null) => Promise<void>; fail: () => Promise<void> }[];

beforeEach(() => {
  nowMs = 1_000_000;
  pendingLookups = [];
  cache = createApiKeyCache(
    (hash) =>
      new Promise((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setImmediate(done));
        pendingLookups.push({
          hash,
          answer(key) {
            resolve(key);
            return settled();
          },
          fail() {
            reject(new Error("accounts is away"));
            return settled();
          },
        });
      }),
    { now: () => nowMs },
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
    ...overrides,
  };
}

async function cacheKey(hash: string, key: CachedApiKey | null = createCachedApiKey()): Promise<CachedApiKey | null> {
  const finding = cache.find(hash);
  await pendingLookups.at(-1)?.answer(key);
  return finding;
}

describe("a key", () => {
  it("is looked up once for all who ask at the same time, and then known for a minute", async () => {
    const finding = [cache.find("a"), cache.find("a"), cache.find("a")];
    const key = createCachedApiKey();
    await pendingLookups[0]?.answer(key);
    expect(await Promise.all(finding)).toEqual([key, key, key]);
    expect(pendingLookups).toHaveLength(1);
    nowMs += 44 * secondMs;
    expect(cache.get("a")).toBe(key);
    expect(pendingLookups).toHaveLength(1);
  });

  it("must be looked up again after a minute", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("is as old as its look-up, which may have been answered before a change that nobody tells of", async () => {
    const finding = cache.find("a");
    nowMs += 10 * secondMs;
    await pendingLookups[0]?.answer(createCachedApiKey());
    await finding;
    nowMs += 50 * secondMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("in use is looked up again before the minute is over, while it goes on being good", async () => {
    const key = await cacheKey("a");
    nowMs += 50 * secondMs;
    expect(cache.get("a")).toBe(key);
    expect(cache.get("a")).toBe(key);
    expect(pendingLookups).toHaveLength(2);
    const newer = createCachedApiKey();
    await pendingLookups[1]?.answer(newer);
    nowMs += 40 * secondMs;
    expect(cache.get("a")).toBe(newer);
  });

  it("that there is not is remembered for a few seconds", async () => {
    await cacheKey("a", null);
    expect(cache.get("a")).toBeNull();
    nowMs += 6 * secondMs;
    expect(cache.get("a")).toBeUndefined();
  });

  it("that there was not is known as soon as it is made", async () => {
    await cacheKey("a", null);
    cache.invalidateKey("a", false);
    expect(cache.get("a")).toBeUndefined();
  });
});

describe("when accounts is away", () => {
  it("a key seen lately goes on being good for five minutes, and nobody waits for it", async () => {
    const key = await cacheKey("a");
    nowMs += minuteMs;
    const finding = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    expect(await finding).toBe(key);
    nowMs += 3 * minuteMs + 58 * secondMs;
    expect(cache.get("a")).toBe(key);
    nowMs += 3 * secondMs;
    expect(cache.get("a")).toBeUndefined();
    const late = expect(cache.find("a")).rejects.toThrow("accounts is away");
    await pendingLookups.at(-1)?.fail();
    await late;
  });

  it("it is asked once a second, not by every request", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    const finding = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    await finding;
    const before = pendingLookups.length;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(pendingLookups).toHaveLength(before);
    await expect(cache.find("unknown here")).rejects.toThrow("accounts is away");
    expect(pendingLookups).toHaveLength(before);
    nowMs += secondMs;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(pendingLookups).toHaveLength(before + 1);
  });

  it("a key revoked meanwhile is not good", async () => {
    await cacheKey("a");
    nowMs += minuteMs;
    const finding = cache.find("a");
    await pendingLookups.at(-1)?.fail();
    await finding;
    cache.invalidateKey("a", true);
    expect(cache.get("a")?.isRevoked).toBe(true);
  });

  it("an unknown key is looked up again when it is back", async () => {
    const finding = expect(cache.find("a")).rejects.toThrow("accounts is away");
    await pendingLookups.at(-1)?.fail();
    await finding;
    nowMs += secondMs;
    const key = createCachedApiKey();
    expect(await cacheKey("a", key)).toBe(key);
  });
});

describe("a change", () => {
  it("of a key makes it be looked up again", async () => {
    await cacheKey("a");
    await cacheKey("b");
    cache.invalidateKey("a", false);
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).not.toBeUndefined();
  });

  it("is not undone by a look-up that began before it", async () => {
    const finding = cache.find("a");
    cache.invalidateKey("a", true);
    await pendingLookups[0]?.answer(createCachedApiKey());
    expect(cache.get("a")).toBeUndefined();
    const revoked = createCachedApiKey({ isRevoked: true });
    await pendingLookups[1]?.answer(revoked);
    expect(await finding).toBe(revoked);
    expect(cache.get("a")).toBe(revoked);
  });

  it("is seen by those who ask after it while an older look-up is still on its way", async () => {
    const before = cache.find("a");
    cache.invalidateKey("a", true);
    const after = cache.find("a");
    const revoked = createCachedApiKey({ isRevoked: true });
    await pendingLookups[1]?.answer(revoked);
    expect(await after).toBe(revoked);
    await pendingLookups[0]?.answer(createCachedApiKey());
    expect(await before).toBe(revoked);
  });

  it("of a location makes its keys be looked up again, and no others", async () => {
    const other = createCachedApiKey();
    if (other.principal.location) other.principal.location.id = randomUUID();
    await cacheKey("a");
    await cacheKey("b", other);
    cache.invalidateLocation("4d0f7c3e-6c3c-4f6e-9a0a-5f9a0c1b2d3e");
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).toBe(other);
  });

  it("that may have been missed makes everything be looked up again, also what is on its way", async () => {
    await cacheKey("a");
    await cacheKey("none", null);
    const finding = cache.find("b");
    cache.clear();
    await pendingLookups[2]?.answer(createCachedApiKey());
    expect(["a", "b", "none"].map((hash) => cache.get(hash))).toEqual([undefined, undefined, undefined]);
    const key = createCachedApiKey();
    await pendingLookups[3]?.answer(key);
    expect(await finding).toBe(key);
  });
});
