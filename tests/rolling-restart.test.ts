import { Agent } from "node:http";
import { createIsolatedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectDatabaseConsistency } from "./fault-injection/expect-consistency.ts";
import { type ProcessName, serviceAndGatewayNames } from "./harness/pragma-process.ts";
import { type ReplicatedPragmaUnderTest, startReplicatedPragmaUnderTest } from "./harness/replicated-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";
import { startTestTrafficClients, testTrafficApiKeyScopes } from "./traffic/client-traffic.ts";

const oldKeys = `old:${"secret-of-the-old-key-".repeat(2)}`;
const nextKeys = `next:${"secret-of-the-next-key-".repeat(2)}`;

/**
 * The roles whose internal keys are rotated: the gateway signs every request, catalog signs its requests to accounts, and
 * both services verify the signatures.
 */
const rolesWithRotatedKeys: ProcessName[] = ["gateway", "accounts", "catalog"];

/** Returns the environment variables that set the internal keys between these roles. */
const internalKeyVariables = (keys: string) =>
  Object.fromEntries(
    ["GATEWAY_TO_ACCOUNTS", "GATEWAY_TO_CATALOG", "CATALOG_TO_ACCOUNTS"].map((hop) => [`${hop}_KEYS`, keys]),
  );

let environment: IsolatedTestEnvironment;
let replicatedProduct: ReplicatedPragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createIsolatedTestEnvironment({
    ...internalKeyVariables(oldKeys),
    // The delay is long enough for a busy load balancer to detect the stop, and for clients to close their connections.
    SHUTDOWN_DELAY_SECONDS: "3",
    DATABASE_POOL: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    WEBHOOK_HOST_RATE_PER_SECOND: "10000",
    WEBHOOK_HOST_BURST: "10000",
    // Cached API keys expire quickly, so that the gateways send many signed requests to accounts.
    KEY_CACHE_TTL_SECONDS: "1",
  });
  replicatedProduct = await startReplicatedPragmaUnderTest(environment.variables);
  testLocation = await createTestLocation(replicatedProduct, { scopes: testTrafficApiKeyScopes });
}, 300_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 240_000);

/** Restarts all instances of these roles with these internal keys, one instance of each role at a time. */
async function restartAllWith(keys: string, roles: readonly ProcessName[]): Promise<void> {
  for (const instance of [0, 1])
    await Promise.all(roles.map((role) => replicatedProduct.restart(role, instance, internalKeyVariables(keys))));
}

const emptyCatalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };

/** Requests with both rotated hops: two use the API key of the location, and one uses the admin key for the location. */
const signedRequests = [
  (agent: Agent) => testLocation.request("GET", "/v1/catalog/", { agent }),
  (agent: Agent) => testLocation.request("GET", "/v1/locations/own", { agent }),
  (agent: Agent) =>
    testLocation.request("PUT", `/v1/catalog/?locationId=${testLocation.locationId}`, {
      key: replicatedProduct.adminKey,
      body: emptyCatalog,
      agent,
    }),
];

/** Repeats `signedRequests` until `stop` is called, which returns the failures and the number of other responses. */
function startSignedRequests() {
  const failures: string[] = [];
  let successCount = 0;
  let isStopping = false;
  const clients = signedRequests.map(async (request, index) => {
    // Each client sends all requests on one connection. The connection is therefore never idle for so long that the
    // server closes it, which could fail a request.
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isStopping) {
      const response = await request(agent).catch((error: Error) => `${error.message} ${error.cause}`);
      if (typeof response === "string") failures.push(`request ${index}: ${response}`);
      else if (response.ok) successCount += 1;
      else failures.push(`request ${index}: ${response.status} ${await response.clone().text()}`);
      if (typeof response !== "string") await response.arrayBuffer();
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
    agent.destroy();
  });
  return async () => {
    isStopping = true;
    await Promise.all(clients);
    return { failures, successCount };
  };
}

describe("a rolling restart of all instances", () => {
  // The restart also adds the next internal keys, which is the first step of their rotation.
  it("fails no request, loses no data, and sends no webhook twice", async () => {
    const traffic = await startTestTrafficClients(testLocation, { clients: 6, maxPauseMs: 200, shouldRetry: false });
    const stopSignedRequests = startSignedRequests();
    await restartAllWith(`${oldKeys},${nextKeys}`, serviceAndGatewayNames);
    expect((await stopSignedRequests()).failures).toEqual([]);
    await traffic.stop();
    expect(traffic.results.failures).toEqual([]);
    expect(traffic.results.responseCount).toBeGreaterThan(100);
    expect(await traffic.expectNothingLost()).toEqual({ duplicateCount: 0 });
    await traffic.close();
    await expectDatabaseConsistency(environment);
  }, 240_000);
});

describe("a rotation of internal keys", () => {
  it.each([
    ["signs with the next keys", `${nextKeys},${oldKeys}`],
    ["removes the old keys", nextKeys],
  ])(
    "fails no request while it %s",
    async (_, keys) => {
      const stopSignedRequests = startSignedRequests();
      await restartAllWith(keys, rolesWithRotatedKeys);
      const { failures, successCount } = await stopSignedRequests();
      expect(failures).toEqual([]);
      expect(successCount).toBeGreaterThan(50);
    },
    120_000,
  );
});
