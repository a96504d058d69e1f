import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { serviceAndGatewayNames } from "./harness/pragma-process.ts";
import { type ReplicatedPragmaUnderTest, startReplicatedPragmaUnderTest } from "./harness/replicated-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { startTestTrafficClients, testTrafficApiKeyScopes } from "./traffic/client-traffic.ts";

let environment: IsolatedTestEnvironment;
let replicatedProduct: ReplicatedPragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({
    // The delay is long enough for a busy load balancer to detect the stop, and for clients to close their connections.
    SHUTDOWN_DELAY_SECONDS: "3",
    DATABASE_POOL: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    WEBHOOK_HOST_RATE_PER_SECOND: "10000",
    WEBHOOK_HOST_BURST: "10000",
  });
  replicatedProduct = await startReplicatedPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(replicatedProduct, { scopes: testTrafficApiKeyScopes });
}, 180_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 60_000);

describe("a rolling restart of all instances", () => {
  it("fails no request, loses no data, and sends no webhook twice", async () => {
    const traffic = await startTestTrafficClients(testLocation, { clients: 6, maxPauseMs: 200, shouldRetry: false });
    for (const instance of [0, 1])
      await Promise.all(serviceAndGatewayNames.map((role) => replicatedProduct.restart(role, instance)));
    await traffic.stop();
    expect(traffic.results.failures).toEqual([]);
    expect(traffic.results.responseCount).toBeGreaterThan(100);
    expect(await traffic.expectNothingLost()).toEqual({ duplicateCount: 0 });
    await traffic.close();
    await expectDatabaseConsistency(environment);
  }, 240_000);
});
