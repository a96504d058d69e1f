import { TokenBucket, type TokenBucketRate } from "@pragma/runtime/admission/token-bucket";
import { sleep } from "@pragma/runtime/concurrency/sleep";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  createApiKeyRateLimiter,
  createRequestRateLimiter,
  type RateLimitDecision,
  type RequestRateLimiter,
} from "./key-rate-limit.ts";
import { createRateLimitLeaseStore, type RateLimitLeaseStore } from "./token-lease-store.ts";

const log = createLogger({ name: "test", level: "silent" });
const rate = { perSecond: 50, burst: 200 };
/** A rate so low that hardly any tokens are refilled while a test runs. */
const slowRate = { perSecond: 1, burst: 200 };

let environment: IsolatedTestEnvironment;
beforeAll(async () => {
  environment = await createIsolatedTestEnvironment();
});
afterAll(() => environment.remove());

const createLeaseStore = (url = environment.variables.REDIS_URL ?? "") =>
  createRateLimitLeaseStore({ REDIS_URL: url }, { namespace: environment.namespace, log });

async function countAllowed(decisions: (RateLimitDecision | Promise<RateLimitDecision>)[]): Promise<number> {
  return (await Promise.all(decisions)).filter(({ isAllowed }) => isAllowed).length;
}

const acquireRepeatedly = (limiter: ReturnType<typeof createApiKeyRateLimiter>, keyId: string, times: number) =>
  Array.from({ length: times }, () => limiter.acquire(keyId, null));

describe("a token bucket", () => {
  it("allows a burst and then the rate per second", () => {
    const bucket = new TokenBucket({ perSecond: 10, burst: 5 }, 0);
    const takeUntilEmpty = (now: number) => {
      let taken = 0;
      while (bucket.take(now)) taken++;
      return taken;
    };
    expect(takeUntilEmpty(0)).toBe(5);
    expect(bucket.getWaitMs(0)).toBe(100);
    expect(takeUntilEmpty(99)).toBe(0);
    expect(takeUntilEmpty(100)).toBe(1);
    expect(takeUntilEmpty(400)).toBe(3);
    expect(takeUntilEmpty(60_000)).toBe(5);
  });
});

describe("the rate limit of a key", () => {
  let store: RateLimitLeaseStore;
  beforeAll(async () => {
    store = await createLeaseStore();
  });
  afterAll(() => store.close());

  it("allows a burst of 200 of 300 concurrent requests", async () => {
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    const decisions = await Promise.all(acquireRepeatedly(limiter, "burst", 300));
    expect(await countAllowed(decisions)).toBe(200);
    const rejected = decisions.find(({ isAllowed }) => !isAllowed) ?? expect.fail("none was rejected");
    expect(rejected.retryAfterSeconds).toBe(1);
    expect(rejected.headers).toEqual({
      "ratelimit-limit": "200",
      "ratelimit-policy": "200;w=200",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "200",
    });
  });

  it("counts down without a Redis command for each request", async () => {
    let redisCalls = 0;
    const countingStore: RateLimitLeaseStore = {
      ...store,
      acquire: (...args) => {
        redisCalls++;
        return store.acquire(...args);
      },
    };
    const limiter = createApiKeyRateLimiter(countingStore, { defaultRate: rate });
    const remaining: number[] = [];
    for (let request = 0; request < 100; request++) {
      const decision = await limiter.acquire("counts", null);
      remaining.push(Number(decision.headers["ratelimit-remaining"]));
    }
    expect(remaining[0]).toBe(199);
    expect(remaining.at(-1)).toBeGreaterThanOrEqual(100);
    expect(remaining.at(-1)).toBeLessThan(130);
    expect(redisCalls).toBeLessThanOrEqual(12);
    const policy = (await limiter.acquire("counts", null)).headers["ratelimit-policy"];
    expect(policy).toBe("200;w=4");
  });

  it("refills at 50 per second", async () => {
    const limiter = createApiKeyRateLimiter(store, { defaultRate: rate });
    await Promise.all(acquireRepeatedly(limiter, "refill", 250));
    const startedAt = Date.now();
    let allowed = 0;
    while (Date.now() - startedAt < 1_000) {
      if ((await limiter.acquire("refill", null)).isAllowed) allowed++;
      await sleep(2);
    }
    expect(allowed).toBeGreaterThan(40);
    expect(allowed).toBeLessThanOrEqual(60);
  });

  it("equals the rate limit of its consumer when the consumer has a rate limit", async () => {
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    const consumerRate = { perSecond: 1, burst: 7 };
    const decisions = await Promise.all(Array.from({ length: 20 }, () => limiter.acquire("own", consumerRate)));
    expect(await countAllowed(decisions)).toBe(7);
  });

  it("is independent of other keys", async () => {
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    await Promise.all(acquireRepeatedly(limiter, "one", 300));
    expect((await limiter.acquire("other", null)).isAllowed).toBe(true);
  });

  it("is exceeded by at most one lease for each of two gateways", async () => {
    const stores = [await createLeaseStore(), await createLeaseStore()];
    const limiters = stores.map((each) => createApiKeyRateLimiter(each, { defaultRate: slowRate }));
    let allowed = 0;
    // Sends bursts of 8, so that each gateway still has leased tokens afterward, which the other gateway cannot use.
    for (let round = 0; round < 40; round++) {
      for (const limiter of limiters) allowed += await countAllowed(acquireRepeatedly(limiter, "shared", 8));
    }
    expect(allowed).toBeGreaterThanOrEqual(200);
    expect(allowed).toBeLessThanOrEqual(200 + 2 * 20);
    await Promise.all(stores.map((each) => each.close()));
  });
});

describe("while Redis", () => {
  let redis: OwnTestServer;
  beforeAll(async () => {
    redis = await startOwnTestServer("redis");
  });
  afterAll(() => redis.stop());

  it("is unreachable, each gateway applies the limit separately, and the gateways share the limit again afterwards", async () => {
    const store = await createLeaseStore(redis.url);
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    expect((await limiter.acquire("first", null)).isAllowed).toBe(true);
    await redis.kill();
    await eventually("the store to notice the outage", () => !store.isUp());
    const startedAt = Date.now();
    expect(await countAllowed(acquireRepeatedly(limiter, "alone", 300))).toBe(200);
    expect(Date.now() - startedAt).toBeLessThan(50);
    await redis.start();
    await eventually("the store to be back", () => store.isUp());
    expect(await countAllowed(acquireRepeatedly(limiter, "together", 300))).toBe(200);
    await store.close();
  });

  it("hangs, requests wait for it only once and briefly", async () => {
    const store = await createLeaseStore(redis.url);
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    await redis.suspend();
    try {
      const startedAt = Date.now();
      expect(await countAllowed(acquireRepeatedly(limiter, "hanging", 300))).toBe(200);
      expect(Date.now() - startedAt).toBeLessThan(500);
      const secondStartedAt = Date.now();
      expect(await countAllowed(acquireRepeatedly(limiter, "hanging too", 300))).toBe(200);
      expect(Date.now() - secondStartedAt).toBeLessThan(50);
    } finally {
      await redis.resume();
    }
    await eventually("the store to be back", () => store.isUp());
    await store.close();
  });

  it("is unreachable at startup, the gateway still limits requests", async () => {
    const store = await createLeaseStore("redis://127.0.0.1:1");
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    expect(await countAllowed(acquireRepeatedly(limiter, "never", 300))).toBe(200);
    await store.close();
  });

  it("is flushed, limits start over without errors", async () => {
    const store = await createLeaseStore(redis.url);
    const limiter = createApiKeyRateLimiter(store, { defaultRate: slowRate });
    await Promise.all(acquireRepeatedly(limiter, "flushed", 300));
    const { Redis } = await import("ioredis");
    const admin = new Redis(redis.url);
    await admin.flushall();
    await admin.script("FLUSH");
    admin.disconnect();
    await sleep(1_100);
    expect((await limiter.acquire("flushed", null)).isAllowed).toBe(true);
    await store.close();
  });
});

describe("the rate limit of a location", () => {
  const rates = {
    ...{ defaultRate: slowRate, locationRate: { perSecond: 3, burst: 300 } },
    sandboxRate: { perSecond: 100 / 86_400, burst: 100 },
  };
  const keyOf = (keyId: string, locationId: string, rateLimit: TokenBucketRate | null = null, isSandbox?: true) =>
    ({ principal: { keyId, location: { id: locationId, isSandbox } }, rateLimit }) as Parameters<
      RequestRateLimiter["acquire"]
    >[0];

  it("is shared by all of its keys and by two gateways, and the headers state the limit that is nearer", async () => {
    const stores = [await createLeaseStore(), await createLeaseStore()];
    const limiters = stores.map((store) => createRequestRateLimiter(store, rates));
    const send = (key: ReturnType<typeof keyOf>, times: number) =>
      Promise.all(Array.from({ length: times }, (_, index) => limiters[index % 2]?.acquire(key) ?? expect.fail()));
    const [first] = await send(keyOf("key 1", "shared"), 1);
    expect([first?.isOfLocation, first?.headers["ratelimit-limit"]]).toEqual([false, "200"]);
    const decisions = (
      await Promise.all(["1", "2", "3", "4"].map((id) => send(keyOf(`key ${id}`, "shared"), 150)))
    ).flat();
    // Without the limit of the location, all 600 requests would be allowed. Each gateway can exceed it by one lease.
    const allowed = decisions.filter(({ isAllowed }) => isAllowed).length;
    expect(allowed).toBeGreaterThanOrEqual(299);
    expect(allowed).toBeLessThanOrEqual(300 + 2 * 30);
    const rejected = decisions.find(({ isAllowed }) => !isAllowed) ?? expect.fail("none was rejected");
    expect([rejected.isOfLocation, rejected.headers["ratelimit-limit"]]).toEqual([true, "300"]);
    expect((await send(keyOf("key of another location", "other"), 1))[0]?.isAllowed).toBe(true);
    const granted = keyOf("key with a higher rate", "shared", { perSecond: 50, burst: 400 });
    expect((await send(granted, 1))[0]?.isAllowed).toBe(true);
    await Promise.all(stores.map((store) => store.close()));
  });

  it("is not used up by a key that has exceeded its own limit", async () => {
    const store = await createLeaseStore();
    const limiter = createRequestRateLimiter(store, rates);
    const send = async (id: string, times: number) => {
      const key = keyOf(`${id} key`, "with a key in a loop");
      return countAllowed(Array.from({ length: times }, () => limiter.acquire(key)));
    };
    const allowed = await send("looping", 1_000);
    expect(allowed).toBeLessThanOrEqual(220);
    for (let round = 0; round < 20; round += 1) await send("looping", 50);
    expect(await send("other", 50)).toBe(50);
    await store.close();
  });

  it("of a sandbox is that of a day, also for its keys with a rate limit of their own", async () => {
    const store = await createLeaseStore();
    const limiter = createRequestRateLimiter(store, rates);
    const key = (id: string) => keyOf(`${id} of a sandbox`, "of a sandbox", { perSecond: 10, burst: 1_000 }, true);
    const send = (id: string) => countAllowed(Array.from({ length: 100 }, () => limiter.acquire(key(id))));
    expect((await send("key 1")) + (await send("key 2"))).toBe(100);
    const rejected = await limiter.acquire(key("key 3"));
    expect(rejected).toMatchObject({ isAllowed: false, isOfLocation: true });
    expect(rejected.headers["ratelimit-policy"]).toBe("100;w=86400");
    expect(rejected.retryAfterSeconds).toBeGreaterThan(60);
    await store.close();
  });
});
