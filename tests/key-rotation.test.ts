import { Agent } from "node:http";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProductPart } from "./harness/product-process.ts";
import { type ReplicatedProduct, startReplicatedProduct } from "./harness/replicated-product.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const oldKeys = `old:${"secret-of-the-old-key-".repeat(2)}`;
const nextKeys = `next:${"secret-of-the-next-key-".repeat(2)}`;

/** The gateway signs every request; the catalog service signs its own requests to accounts. */
const roles: ProductPart[] = ["gateway", "accounts", "catalog"];

/** Returns the variables of the internal keys between these roles. */
const internalKeyVariables = (keys: string) =>
  Object.fromEntries(
    ["GATEWAY_TO_ACCOUNTS", "GATEWAY_TO_CATALOG", "CATALOG_TO_ACCOUNTS"].map((hop) => [`${hop}_KEYS`, keys]),
  );

let environment: TestEnvironment;
let replicatedProduct: ReplicatedProduct;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment({
    ...internalKeyVariables(oldKeys),
    // The delay gives a busy load balancer time to detect the stop, and each connection time to be closed.
    SHUTDOWN_DELAY_SECONDS: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    // Cached keys expire quickly, so that gateways often look up keys in accounts.
    KEY_CACHE_TTL_SECONDS: "1",
  });
  replicatedProduct = await startReplicatedProduct(environment.variables, roles);
  testLocation = await createTestLocation(replicatedProduct, { scopes: ["catalog:read", "locations:read"] });
}, 120_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 60_000);

/** Restarts the instances of every role with other keys, one instance of each role at a time. */
async function restartAllWith(keys: string): Promise<void> {
  for (const instance of [0, 1]) {
    await Promise.all(roles.map((role) => replicatedProduct.restart(role, instance, internalKeyVariables(keys))));
  }
}

const catalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };

/** Requests with an API key of the location, and requests of an operator on behalf of the location. */
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
      // Each client has one busy connection, because an idle connection may be closed when it is used next.
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
