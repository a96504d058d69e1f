import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { type ApiScope, apiScopeNames } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import type { PragmaUnderTestAccess } from "../harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { createTestLiveOrderInput } from "./order-and-till-inputs.ts";

/** The scopes of a location's API key, which are all scopes that do not give access to other locations. */
export const testLocationKeyScopes: ApiScope[] = apiScopeNames.filter(
  (scope) => scope !== "admin" && scope !== "locations:any",
);

/** Two locations with API keys. `testLocation` has a till with a report and orders, a live order and a catalog. */
export interface ContractTestFixture {
  product: PragmaUnderTestAccess;
  testLocation: TestLocation;
  /** Another location, whose API key has the same scopes but must not access the data of `testLocation`. */
  otherLocation: TestLocation;
  /** A pushed till of `testLocation`. Its report is available. */
  till: ReturnType<typeof generateTill>;
  reportId: string;
  orderId: string;
  liveOrder: OrderLiveInput;
  catalog: ReturnType<typeof buildRestaurantCatalog>;
  /** A consumer that was created with the API key of `testLocation`. */
  consumer: { id: string; name: string };
  /** Sends a request with the admin key, and returns the response body. @throws Error if the request fails. */
  requestAsAdmin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** Creates an API key of `testLocation` with these scopes and this rate limit, and returns the key. */
  createKeyWithScopes(scopes: ApiScope[], rateLimit?: { perSecond: number; burst: number }): Promise<string>;
}

/**
 * Creates the fixture. Names in its till, live order and catalog end with `mark`, so that tests can recognize them. The
 * orders of the till depend on its id.
 */
export async function createContractTestFixture(
  product: PragmaUnderTestAccess,
  { mark = "", tillId = randomUUID() as string } = {},
): Promise<ContractTestFixture> {
  const [testLocation, otherLocation] = await Promise.all([
    createTestLocation(product, { scopes: testLocationKeyScopes }),
    createTestLocation(product, { scopes: testLocationKeyScopes }),
  ]);
  const till = withNameSuffix(generateTill({ seed: "contract", orders: 6, day: "2026-05-29", tillId }), mark);
  const liveOrder = withNameSuffix(createTestLiveOrderInput(), mark);
  const catalog = withNameSuffix(buildRestaurantCatalog(generateRestaurant("contract")), mark);

  async function requestAsAdmin<T>(method: string, path: string, body?: unknown): Promise<T> {
    return requireSuccess(testLocation.request(method, path, { body, key: product.adminKey }), `${method} ${path}`);
  }
  async function createKeyWithScopes(
    scopes: ApiScope[],
    rateLimit?: { perSecond: number; burst: number },
  ): Promise<string> {
    const { id, name } = await requestAsAdmin<{ id: string; name: string }>("POST", "/v1/consumers", {
      name: randomUUID(),
    });
    await requestAsAdmin("PATCH", `/v1/consumers/${id}`, { scopes, ...(rateLimit && { rateLimit }) });
    const newKey = { locationId: testLocation.locationId, consumerName: name };
    return (await requestAsAdmin<{ apiKey: string }>("POST", "/v1/auth/keys", newKey)).apiKey;
  }

  const consumer = await requireSuccess<ContractTestFixture["consumer"]>(
    testLocation.request("POST", "/v1/consumers", { body: { name: `consumer ${randomUUID()}` } }),
    "the consumer",
  );
  await requireSuccess(testLocation.request("POST", "/v2/tills", { body: till }), "the push");
  await requireSuccess(testLocation.request("PUT", "/v1/catalog", { body: catalog }), "the catalog");
  await requireSuccess(testLocation.request("POST", "/v1/orders-live", { body: [liveOrder] }), "the live order");
  const [report] = await testLocation.waitForReports(1);
  await testLocation.waitForTillStates();
  const orders = await eventually("the orders", async () => {
    const { data } = await testLocation.getJson<{ data: { id: string }[] }>("/v1/orders");
    return data.length > 0 && data;
  });
  return {
    ...{
      product,
      testLocation,
      otherLocation,
      till,
      liveOrder,
      catalog,
      consumer,
      requestAsAdmin,
      createKeyWithScopes,
    },
    reportId: report?.id ?? "",
    orderId: orders[0]?.id ?? "",
  };
}

/** Returns a copy of the value with the mark appended to every name field. */
function withNameSuffix<Thing>(thing: Thing, mark: string): Thing {
  const isName = (key: string) => /name$/i.test(key);
  return JSON.parse(
    JSON.stringify(thing, (key, value) => (isName(key) && typeof value === "string" ? value + mark : value)),
  );
}

async function requireSuccess<T>(pending: Promise<Response>, label: string): Promise<T> {
  const response = await pending;
  if (!response.ok) throw new Error(`${label} returned ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
