import { randomUUID } from "node:crypto";
import type { OrderLiveInput } from "@pragma/contracts/order-live";
import { type Scope, scopeNames } from "@pragma/contracts/scopes";
import { eventually } from "@pragma/runtime/testing/eventually";
import { catalogOf } from "@pragma/simulator/ensure-location";
import { generateTill } from "@pragma/simulator/generate-till";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import type { ReachableProduct } from "../harness/product.ts";
import { openShop, type Shop } from "../harness/shop.ts";
import { newLiveOrder } from "./live-order.ts";

/** What a shop's own key may be allowed to do: everything that does not reach beyond its location. */
export const shopScopes: Scope[] = scopeNames.filter((scope) => scope !== "admin" && scope !== "locations:any");

/** Two locations, one of which has everything that there is to read. */
export interface World {
  product: ReachableProduct;
  shop: Shop;
  /** Another location, whose key has the same scopes. */
  other: Shop;
  /** The shop's till: it was pushed, and has its report. */
  till: ReturnType<typeof generateTill>;
  reportId: string;
  orderId: string;
  liveOrder: OrderLiveInput;
  catalog: ReturnType<typeof catalogOf>;
  /** A consumer that the shop's key created. */
  consumer: { id: string; name: string };
  /** Asks as an operator does; throws when the answer is no success. */
  asAdmin<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** A new key of the shop's location with these scopes and this limit. */
  keyWith(scopes: Scope[], rateLimit?: { perSecond: number; burst: number }): Promise<string>;
}

/** A world whose shop has something of everything; with `mark` in everything there that has a name. */
export async function openWorld(product: ReachableProduct, { mark = "" } = {}): Promise<World> {
  const [shop, other] = await Promise.all([
    openShop(product, { scopes: shopScopes }),
    openShop(product, { scopes: shopScopes }),
  ]);
  const till = marked(generateTill({ seed: "contract", orders: 6, day: "2026-05-29", tillId: randomUUID() }), mark);
  const liveOrder = marked(newLiveOrder(), mark);
  const catalog = marked(catalogOf(generateRestaurant("contract")), mark);

  async function asAdmin<T>(method: string, path: string, body?: unknown): Promise<T> {
    return succeed(shop.ask(method, path, { body, key: product.adminKey }), `${method} ${path}`);
  }
  async function keyWith(scopes: Scope[], rateLimit?: { perSecond: number; burst: number }): Promise<string> {
    const { id, name } = await asAdmin<{ id: string; name: string }>("POST", "/v1/consumers", { name: randomUUID() });
    await asAdmin("PATCH", `/v1/consumers/${id}`, { scopes, ...(rateLimit && { rateLimit }) });
    const wanted = { locationId: shop.locationId, consumerName: name };
    return (await asAdmin<{ apiKey: string }>("POST", "/v1/auth/keys", wanted)).apiKey;
  }

  const consumer = await succeed<World["consumer"]>(
    shop.ask("POST", "/v1/consumers", { body: { name: `consumer ${randomUUID()}` } }),
    "the consumer",
  );
  await succeed(shop.ask("POST", "/v2/tills", { body: till }), "the push");
  await succeed(shop.ask("PUT", "/v1/catalog", { body: catalog }), "the catalogue");
  await succeed(shop.ask("POST", "/v1/orders-live", { body: [liveOrder] }), "the live order");
  const [report] = await shop.reports(1);
  const orders = await eventually("the orders", async () => {
    const { data } = await shop.read<{ data: { id: string }[] }>("/v1/orders");
    return data.length > 0 && data;
  });
  return {
    ...{ product, shop, other, till, liveOrder, catalog, consumer, asAdmin, keyWith },
    reportId: report?.id ?? "",
    orderId: orders[0]?.id ?? "",
  };
}

/** The same with the mark behind every name. */
function marked<Thing>(thing: Thing, mark: string): Thing {
  const isName = (key: string) => /name$/i.test(key);
  return JSON.parse(
    JSON.stringify(thing, (key, value) => (isName(key) && typeof value === "string" ? value + mark : value)),
  );
}

async function succeed<T>(asking: Promise<Response>, what: string): Promise<T> {
  const answer = await asking;
  if (!answer.ok) throw new Error(`${what} was answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as T;
}
