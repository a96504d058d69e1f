import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { type Scope, scopeNames } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { createRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import type { ProductAddress } from "../harness/product-under-test.ts";
import { createTestLocation, type TestLocation } from "../harness/test-location.ts";
import { createLiveOrderInput } from "./live-order-input.ts";

/** What a shop's own key may be allowed to do: everything that does not reach beyond its location. */
export const locationKeyScopes: Scope[] = scopeNames.filter((scope) => scope !== "admin" && scope !== "locations:any");

/** Two locations, one of which has everything that there is to read. */
export interface ContractFixture {
  product: ProductAddress;
  shop: TestLocation;
  /** Another location, whose key has the same scopes. */
  other: TestLocation;
  /** The shop's till: it was pushed, and has its report. */
  till: ReturnType<typeof generateTill>;
  reportId: string;
  orderId: string;
  liveOrder: OrderLiveInput;
  catalog: ReturnType<typeof createRestaurantCatalog>;
  /** A consumer that the shop's key created. */
  consumer: { id: string; name: string };
  /** Asks as an operator does; throws when the answer is no success. */
  asAdmin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** A new key of the shop's location with these scopes and this limit. */
  keyWith(scopes: Scope[], rateLimit?: { perSecond: number; burst: number }): Promise<string>;
}

/** A world whose shop has something of everything; with `mark` in everything there that has a name. */
export async function createContractFixture(product: ProductAddress, { mark = "" } = {}): Promise<ContractFixture> {
  const [shop, other] = await Promise.all([
    createTestLocation(product, { scopes: locationKeyScopes }),
    createTestLocation(product, { scopes: locationKeyScopes }),
  ]);
  const till = withNameSuffix(
    generateTill({ seed: "contract", orders: 6, day: "2026-05-29", tillId: randomUUID() }),
    mark,
  );
  const liveOrder = withNameSuffix(createLiveOrderInput(), mark);
  const catalog = withNameSuffix(createRestaurantCatalog(generateRestaurant("contract")), mark);

  async function asAdmin<T>(method: string, path: string, body?: unknown): Promise<T> {
    return requireSuccess(shop.request(method, path, { body, key: product.adminKey }), `${method} ${path}`);
  }
  async function keyWith(scopes: Scope[], rateLimit?: { perSecond: number; burst: number }): Promise<string> {
    const { id, name } = await asAdmin<{ id: string; name: string }>("POST", "/v1/consumers", { name: randomUUID() });
    await asAdmin("PATCH", `/v1/consumers/${id}`, { scopes, ...(rateLimit && { rateLimit }) });
    const wanted = { locationId: shop.locationId, consumerName: name };
    return (await asAdmin<{ apiKey: string }>("POST", "/v1/auth/keys", wanted)).apiKey;
  }

  const consumer = await requireSuccess<ContractFixture["consumer"]>(
    shop.request("POST", "/v1/consumers", { body: { name: `consumer ${randomUUID()}` } }),
    "the consumer",
  );
  await requireSuccess(shop.request("POST", "/v2/tills", { body: till }), "the push");
  await requireSuccess(shop.request("PUT", "/v1/catalog", { body: catalog }), "the catalogue");
  await requireSuccess(shop.request("POST", "/v1/orders-live", { body: [liveOrder] }), "the live order");
  const [report] = await shop.waitForReports(1);
  const orders = await eventually("the orders", async () => {
    const { data } = await shop.getJson<{ data: { id: string }[] }>("/v1/orders");
    return data.length > 0 && data;
  });
  return {
    ...{ product, shop, other, till, liveOrder, catalog, consumer, asAdmin, keyWith },
    reportId: report?.id ?? "",
    orderId: orders[0]?.id ?? "",
  };
}

/** The same with the mark behind every name. */
function withNameSuffix<Thing>(thing: Thing, mark: string): Thing {
  const isName = (key: string) => /name$/i.test(key);
  return JSON.parse(
    JSON.stringify(thing, (key, value) => (isName(key) && typeof value === "string" ? value + mark : value)),
  );
}

async function requireSuccess<T>(asking: Promise<Response>, what: string): Promise<T> {
  const answer = await asking;
  if (!answer.ok) throw new Error(`${what} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
