import { randomUUID } from "node:crypto";
import { beforeEach, describe, expect, it } from "vitest";
import { createKeyCache, type KeyCache, type KnownKey } from "./key-cache.ts";

const second = 1000;
const minute = 60 * second;

let time = 0;
let cache: KeyCache;
/** Look-ups on their way, each to be answered by the test. */
let asked: { hash: string; answer: (key: KnownKey | null) => Promise<void>; fail: () => Promise<void> }[];

beforeEach(() => {
  time = 1_000_000;
  asked = [];
  cache = createKeyCache(
    (hash) =>
      new Promise((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setImmediate(done));
        asked.push({
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
    { now: () => time },
  );
});

function aKey(overrides: Partial<KnownKey> = {}): KnownKey {
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

async function known(hash: string, key: KnownKey | null = aKey()): Promise<KnownKey | null> {
  const finding = cache.find(hash);
  await asked.at(-1)?.answer(key);
  return finding;
}

describe("a key", () => {
  it("is looked up once for all who ask at the same time, and then known for a minute", async () => {
    const finding = [cache.find("a"), cache.find("a"), cache.find("a")];
    const key = aKey();
    await asked[0]?.answer(key);
    expect(await Promise.all(finding)).toEqual([key, key, key]);
    expect(asked).toHaveLength(1);
    time += 44 * second;
    expect(cache.get("a")).toBe(key);
    expect(asked).toHaveLength(1);
  });

  it("must be looked up again after a minute", async () => {
    await known("a");
    time += minute;
    expect(cache.get("a")).toBeUndefined();
  });

  it("is as old as its look-up, which may have been answered before a change that nobody tells of", async () => {
    const finding = cache.find("a");
    time += 10 * second;
    await asked[0]?.answer(aKey());
    await finding;
    time += 50 * second;
    expect(cache.get("a")).toBeUndefined();
  });

  it("in use is looked up again before the minute is over, while it goes on being good", async () => {
    const key = await known("a");
    time += 50 * second;
    expect(cache.get("a")).toBe(key);
    expect(cache.get("a")).toBe(key);
    expect(asked).toHaveLength(2);
    const newer = aKey();
    await asked[1]?.answer(newer);
    time += 40 * second;
    expect(cache.get("a")).toBe(newer);
  });

  it("that there is not is remembered for a few seconds", async () => {
    await known("a", null);
    expect(cache.get("a")).toBeNull();
    time += 6 * second;
    expect(cache.get("a")).toBeUndefined();
  });

  it("that there was not is known as soon as it is made", async () => {
    await known("a", null);
    cache.keyChanged("a", false);
    expect(cache.get("a")).toBeUndefined();
  });
});

describe("when accounts is away", () => {
  it("a key seen lately goes on being good for five minutes, and nobody waits for it", async () => {
    const key = await known("a");
    time += minute;
    const finding = cache.find("a");
    await asked.at(-1)?.fail();
    expect(await finding).toBe(key);
    time += 3 * minute + 58 * second;
    expect(cache.get("a")).toBe(key);
    time += 3 * second;
    expect(cache.get("a")).toBeUndefined();
    const late = expect(cache.find("a")).rejects.toThrow("accounts is away");
    await asked.at(-1)?.fail();
    await late;
  });

  it("it is asked once a second, not by every request", async () => {
    await known("a");
    time += minute;
    const finding = cache.find("a");
    await asked.at(-1)?.fail();
    await finding;
    const before = asked.length;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(asked).toHaveLength(before);
    await expect(cache.find("unknown here")).rejects.toThrow("accounts is away");
    expect(asked).toHaveLength(before);
    time += second;
    for (let request = 0; request < 100; request++) cache.get("a");
    expect(asked).toHaveLength(before + 1);
  });

  it("a key revoked meanwhile is not good", async () => {
    await known("a");
    time += minute;
    const finding = cache.find("a");
    await asked.at(-1)?.fail();
    await finding;
    cache.keyChanged("a", true);
    expect(cache.get("a")?.isRevoked).toBe(true);
  });

  it("an unknown key is looked up again when it is back", async () => {
    const finding = expect(cache.find("a")).rejects.toThrow("accounts is away");
    await asked.at(-1)?.fail();
    await finding;
    time += second;
    const key = aKey();
    expect(await known("a", key)).toBe(key);
  });
});

describe("a change", () => {
  it("of a key makes it be looked up again", async () => {
    await known("a");
    await known("b");
    cache.keyChanged("a", false);
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).not.toBeUndefined();
  });

  it("is not undone by a look-up that began before it", async () => {
    const finding = cache.find("a");
    cache.keyChanged("a", true);
    await asked[0]?.answer(aKey());
    expect(cache.get("a")).toBeUndefined();
    const revoked = aKey({ isRevoked: true });
    await asked[1]?.answer(revoked);
    expect(await finding).toBe(revoked);
    expect(cache.get("a")).toBe(revoked);
  });

  it("is seen by those who ask after it while an older look-up is still on its way", async () => {
    const before = cache.find("a");
    cache.keyChanged("a", true);
    const after = cache.find("a");
    const revoked = aKey({ isRevoked: true });
    await asked[1]?.answer(revoked);
    expect(await after).toBe(revoked);
    await asked[0]?.answer(aKey());
    expect(await before).toBe(revoked);
  });

  it("of a location makes its keys be looked up again, and no others", async () => {
    const other = aKey();
    if (other.principal.location) other.principal.location.id = randomUUID();
    await known("a");
    await known("b", other);
    cache.locationChanged("4d0f7c3e-6c3c-4f6e-9a0a-5f9a0c1b2d3e");
    expect(cache.get("a")).toBeUndefined();
    expect(cache.get("b")).toBe(other);
  });

  it("that may have been missed makes everything be looked up again, also what is on its way", async () => {
    await known("a");
    await known("none", null);
    const finding = cache.find("b");
    cache.clear();
    await asked[2]?.answer(aKey());
    expect(["a", "b", "none"].map((hash) => cache.get(hash))).toEqual([undefined, undefined, undefined]);
    const key = aKey();
    await asked[3]?.answer(key);
    expect(await finding).toBe(key);
  });
});
