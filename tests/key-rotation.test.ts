import { Agent } from "node:http";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ServiceOrGatewayName } from "./harness/pragma-process.ts";
import { type ReplicatedPragmaUnderTest, startReplicatedPragmaUnderTest } from "./harness/replicated-pragma.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const oldKeys = `old:${"secret-of-the-old-key-".repeat(2)}`;
const nextKeys = `next:${"secret-of-the-next-key-".repeat(2)}`;

/**
 * The roles that the test runs. All of them use internal keys: the gateway signs every request, catalog signs its
 * requests to accounts, and both services verify the signatures.
 */
const roles: ServiceOrGatewayName[] = ["gateway", "accounts", "catalog"];

/** Returns the environment variables that set the internal keys between these roles. */
const internalKeyVariables = (keys: string) =>
  Object.fromEntries(
    ["GATEWAY_TO_ACCOUNTS", "GATEWAY_TO_CATALOG", "CATALOG_TO_ACCOUNTS"].map((hop) => [`${hop}_KEYS`, keys]),
  );

let environment: IsolatedTestEnvironment;
let replicatedProduct: ReplicatedPragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment({
    ...internalKeyVariables(oldKeys),
    // The delay is long enough for a busy load balancer to detect the stop, and for clients to close their connections.
    SHUTDOWN_DELAY_SECONDS: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    // Cached API keys expire quickly, so that the gateways send many signed requests to accounts.
    KEY_CACHE_TTL_SECONDS: "1",
  });
  replicatedProduct = await startReplicatedPragmaUnderTest(environment.variables, roles);
  testLocation = await createTestLocation(replicatedProduct, { scopes: ["catalog:read", "locations:read"] });
}, 120_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 60_000);

/** Restarts all instances with these internal keys, one instance of each role at a time. */
async function restartAllWith(keys: string): Promise<void> {
  for (const instance of [0, 1]) {
    await Promise.all(roles.map((role) => replicatedProduct.restart(role, instance, internalKeyVariables(keys))));
  }
}

const catalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };

/** The requests of the clients: two use the API key of the location, and one uses the admin key for the location. */
const requests = [
  (agent: Agent) => testLocation.request("GET", "/v1/catalog/", { agent }),
  (agent: Agent) => testLocation.request("GET", "/v1/locations/own", { agent }),
  (agent: Agent) =>
    testLocation.request("PUT", `/v1/catalog/?locationId=${testLocation.locationId}`, {
      key: replicatedProduct.adminKey,
      body: catalog,
      agent,
    }),
];

describe("a rotation of internal keys", () => {
  it("fails no request", async () => {
    const failures: string[] = [];
    let successCount = 0;
    let isOver = false;
    const clients = requests.map(async (request, index) => {
      // Each client sends all requests on one connection. The connection is therefore never idle for so long that the
      // server closes it, which could fail a request.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver) {
        const response = await request(agent).catch((error: Error) => `${error.message} ${error.cause}`);
        if (typeof response === "string") failures.push(`request ${index}: ${response}`);
        else if (response.ok) successCount += 1;
        else failures.push(`request ${index}: ${response.status} ${await response.clone().text()}`);
        if (typeof response !== "string") await response.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      agent.destroy();
    });
    for (const keys of [`${oldKeys},${nextKeys}`, `${nextKeys},${oldKeys}`, nextKeys]) {
      await restartAllWith(keys);
      expect(failures, `after the rotation to ${keys.replace(/:[^,]*/g, "")}`).toEqual([]);
    }
    isOver = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(successCount).toBeGreaterThan(100);
  }, 300_000);
});
