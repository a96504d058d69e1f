import { createLogger } from "@pragma/runtime/logger";
import { openRedis } from "@pragma/runtime/redis";
import { eventually } from "@pragma/runtime/testing/eventually";
import { type PrivateServer, startPrivateServer } from "@pragma/runtime/testing/private-server";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openLeaseStore } from "./lease-store.ts";
import { createRateLimiter } from "./rate-limit.ts";

let redis: PrivateServer;
beforeAll(async () => {
  redis = await startPrivateServer("redis");
});
afterAll(() => redis?.stop());

describe("while Redis is at its maxmemory", () => {
  it("each gateway keeps to the limit alone, and together again when there is memory", async () => {
    const admin = openRedis({ REDIS_URL: redis.url }, {});
    const log = createLogger({ name: "test", level: "silent" });
    const openStore = () => openLeaseStore({ REDIS_URL: redis.url }, { namespace: "full", log });
    const stores = await Promise.all([openStore(), openStore()]);
    const [one, other] = stores.map((store) => createRateLimiter(store, { defaultRate: { perSecond: 1, burst: 200 } }));
    const allowed = async (limiter = one, keyId = "") => {
      const verdicts = await Promise.all(Array.from({ length: 300 }, () => limiter?.take(keyId, null)));
      return verdicts.filter((verdict) => verdict?.isAllowed).length;
    };
    try {
      await admin.config("SET", "maxmemory-policy", "noeviction");
      await admin.config("SET", "maxmemory", "1mb");
      expect(await allowed(one, "alone")).toBe(200);
      expect(await allowed(one, "alone")).toBeLessThan(5);
      expect(await allowed(other, "alone")).toBe(200);

      await admin.config("SET", "maxmemory", 0);
      await eventually("the stores to be back", () => stores.every((store) => store.isUp()));
      expect((await allowed(one, "together")) + (await allowed(other, "together"))).toBeLessThan(200 + 2 * 20 + 5);
    } finally {
      admin.disconnect();
      await Promise.all(stores.map((store) => store.close()));
    }
  });
});
