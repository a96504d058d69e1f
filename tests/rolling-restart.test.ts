import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { type ReplicatedProduct, replicatedRoles, startReplicatedProduct } from "./harness/replicated-product.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { clientTrafficScopes, startClientTraffic } from "./traffic/client-traffic.ts";

let environment: TestEnvironment;
let replicatedProduct: ReplicatedProduct;
let shop: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment({
    // A busy balancer takes a while to notice that an instance is to stop, and each connection to be used once more.
    SHUTDOWN_DELAY_SECONDS: "3",
    DATABASE_POOL: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    WEBHOOK_HOST_RATE: "10000",
    WEBHOOK_HOST_BURST: "10000",
  });
  replicatedProduct = await startReplicatedProduct(environment.variables);
  shop = await createTestLocation(replicatedProduct, { scopes: clientTrafficScopes });
}, 180_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 60_000);

describe("an upgrade, one instance of every part after the other", () => {
  it("fails no request, loses nothing, and tells nothing twice", async () => {
    const traffic = await startClientTraffic(shop, { clients: 6, maxPauseMs: 200, shouldRetry: false });
    for (const instance of [0, 1])
      await Promise.all(replicatedRoles.map((role) => replicatedProduct.restart(role, instance)));
    await traffic.stop();
    expect(traffic.counts.failures).toEqual([]);
    expect(traffic.counts.responseCount).toBeGreaterThan(100);
    expect(await traffic.expectNothingLost()).toEqual({ toldTwice: 0 });
    await traffic.close();
    await expectDatabaseConsistency(environment);
  }, 240_000);
});
