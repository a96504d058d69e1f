import { createRedisClient } from "@pragma/runtime/database/redis";
import { createLogger } from "@pragma/runtime/observability/logger";
import { type OwnTestServer, startOwnTestServer } from "@pragma/runtime/testing/dedicated-infrastructure-servers";
import { eventually } from "@pragma/runtime/testing/eventually";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createApiKeyRateLimiter } from "./key-rate-limit.ts";
import { createRateLimitLeaseStore } from "./token-lease-store.ts";

let redis: OwnTestServer;
beforeAll(async () => {
  redis = await startOwnTestServer("redis");
});
afterAll(() => redis?.stop());

describe("while Redis is at its maxmemory", () => {
  it("each gateway applies the limit separately, and the gateways share the limit again when memory is available", async () => {
    const admin = createRedisClient({ REDIS_URL: redis.url }, {});
    const log = createLogger({ name: "test", level: "silent" });
    const createLeaseStore = () => createRateLimitLeaseStore({ REDIS_URL: redis.url }, { namespace: "full", log });
    const stores = await Promise.all([createLeaseStore(), createLeaseStore()]);
    const [one, other] = stores.map((store) =>
      createApiKeyRateLimiter(store, { defaultRate: { perSecond: 1, burst: 200 } }),
    );
    const countAllowed = async (limiter = one, keyId = "") => {
      const decisions = await Promise.all(Array.from({ length: 300 }, () => limiter?.acquire(keyId, null)));
      return decisions.filter((decision) => decision?.isAllowed).length;
    };
    try {
      await admin.config("SET", "maxmemory-policy", "noeviction");
      await admin.config("SET", "maxmemory", "1mb");
      expect(await countAllowed(one, "alone")).toBe(200);
      expect(await countAllowed(one, "alone")).toBeLessThan(5);
      expect(await countAllowed(other, "alone")).toBe(200);

      await admin.config("SET", "maxmemory", 0);
      await eventually("the stores to be back", () => stores.every((store) => store.isUp()));
      expect((await countAllowed(one, "together")) + (await countAllowed(other, "together"))).toBeLessThan(
        200 + 2 * 20 + 5,
      );
    } finally {
      admin.disconnect();
      await Promise.all(stores.map((store) => store.close()));
    }
  });
});
