import { Agent } from "node:http";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ReplicatedProduct, type ReplicatedRole, startReplicatedProduct } from "./harness/replicated-product.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

const oldKeys = `old:${"secret-of-the-old-key-".repeat(2)}`;
const nextKeys = `next:${"secret-of-the-next-key-".repeat(2)}`;

/** The gateway signs for every request; the catalogue asks accounts for locations in its own name. */
const roles: ReplicatedRole[] = ["gateway", "accounts", "catalog"];

/** The variables of every hop between these parts, with these keys. */
const internalKeyVariables = (keys: string) =>
  Object.fromEntries(
    ["GATEWAY_TO_ACCOUNTS", "GATEWAY_TO_CATALOG", "CATALOG_TO_ACCOUNTS"].map((hop) => [`${hop}_KEYS`, keys]),
  );

let environment: TestEnvironment;
let replicatedProduct: ReplicatedProduct;
let shop: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment({
    ...internalKeyVariables(oldKeys),
    // A busy balancer takes a while to notice that an instance is to stop, and each connection to be used once more.
    SHUTDOWN_DELAY_SECONDS: "3",
    RATE_LIMIT_PER_SECOND: "10000",
    RATE_LIMIT_BURST: "10000",
    // So that keys are looked up in accounts all the time.
    KEY_LIFETIME: "1",
  });
  replicatedProduct = await startReplicatedProduct(environment.variables, roles);
  shop = await createTestLocation(replicatedProduct, { scopes: ["catalog:read", "locations:read"] });
}, 120_000);
afterAll(async () => {
  await replicatedProduct?.stop();
  await environment?.remove();
}, 60_000);

/** Has every part use other keys, one instance of each after the other. */
async function restartAllWith(keys: string): Promise<void> {
  for (const instance of [0, 1]) {
    await Promise.all(roles.map((role) => replicatedProduct.restart(role, instance, internalKeyVariables(keys))));
  }
}

const catalog = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };

/** What the shop, and an operator in its place, ask all the time. */
const requests = [
  (agent: Agent) => shop.request("GET", "/v1/catalog/", { agent }),
  (agent: Agent) => shop.request("GET", "/v1/locations/own", { agent }),
  (agent: Agent) =>
    shop.request("PUT", `/v1/catalog/?locationId=${shop.locationId}`, {
      key: replicatedProduct.adminKey,
      body: catalog,
      agent,
    }),
];

describe("the key that requests are signed with", () => {
  it("is exchanged for another while requests go on, and none fails", async () => {
    const failures: string[] = [];
    let answered = 0;
    let isOver = false;
    const clients = requests.map(async (request, index) => {
      // A connection that is hardly ever used may be closed just when it is: each client has one, and uses that.
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!isOver) {
        const answer = await request(agent).catch((error: Error) => `${error.message} ${error.cause}`);
        if (typeof answer === "string") failures.push(`request ${index}: ${answer}`);
        else if (answer.ok) answered += 1;
        else failures.push(`request ${index}: ${answer.status} ${await answer.clone().text()}`);
        if (typeof answer !== "string") await answer.arrayBuffer();
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      agent.destroy();
    });
    for (const keys of [`${oldKeys},${nextKeys}`, `${nextKeys},${oldKeys}`, nextKeys]) {
      await restartAllWith(keys);
      expect(failures, `once the keys are ${keys.replace(/:[^,]*/g, "")}`).toEqual([]);
    }
    isOver = true;
    await Promise.all(clients);
    expect(failures).toEqual([]);
    expect(answered).toBeGreaterThan(100);
  }, 300_000);
});
