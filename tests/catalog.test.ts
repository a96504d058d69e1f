import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Catalog, catalogListNames } from "@pragma/contracts/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { readPublishedEvents } from "@pragma/runtime/testing/published-events";
import { createTestEnvironment, type TestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { createRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type ProductUnderTest, startProductUnderTest } from "./harness/product-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: TestEnvironment;
let product: ProductUnderTest;
let shop: TestLocation;

beforeAll(async () => {
  environment = await createTestEnvironment();
  product = await startProductUnderTest(environment.variables, { split: ["accounts", "catalog"] });
  shop = await createCatalogLocation();
}, 120_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const createCatalogLocation = () => createTestLocation(product, { scopes: ["catalog:read", "catalog:write"] });
const catalog = createRestaurantCatalog(generateRestaurant("catalog"));
const catalogPaths = {
  products: "/v1/catalog",
  payments: "/v1/catalog/payments",
  taxes: "/v1/catalog/taxes",
  modifiers: "/v1/catalog/modifiers",
  categories: "/v1/catalog/categories",
};

/** So many products, each like one of the restaurant's. */
function catalogWithProducts(count: number): Catalog {
  const products = Array.from({ length: count }, (_, index) => {
    const like = catalog.products[index % catalog.products.length];
    return { ...like, id: crypto.randomUUID(), name: `${like?.name} ${index}` } as Catalog["products"][number];
  });
  return { ...catalog, products };
}

describe("the catalogue of a location", () => {
  it("is empty at first, then what its point of sale says, and announced", async () => {
    for (const address of Object.values(catalogPaths)) expect(await shop.getJson(address)).toEqual([]);
    const answer = await shop.request("PUT", "/v1/catalog", { body: catalog });
    const { etag, ...replaced } = (await answer.json()) as { etag: string };
    expect([answer.status, replaced]).toMatchObject([200, { changed: true, locationId: shop.locationId }]);
    for (const list of catalogListNames) {
      expect(await shop.getJson(catalogPaths[list])).toEqual(catalog[list]);
      expect(await shop.getJson(`${catalogPaths[list]}/`)).toEqual(catalog[list]);
    }
    const announced = await eventually("the event", async () => {
      const events = await readPublishedEvents(environment, "catalog.updated", shop.locationId);
      return events.length > 0 && events;
    });
    expect(announced).toMatchObject([{ etag, counts: { products: catalog.products.length } }]);
  });

  it("is not sent again to who has it, and not changed by who has another", async () => {
    const seller = await createCatalogLocation();
    await seller.request("PUT", "/v1/catalog/", { body: catalog });
    const etag = (await seller.request("GET", "/v1/catalog/")).headers.get("etag") ?? "";
    expect((await seller.request("GET", "/v1/catalog/", { headers: { "if-none-match": etag } })).status).toBe(304);
    const put = (products: Catalog["products"]) =>
      seller.request("PUT", "/v1/catalog/", { body: { ...catalog, products }, headers: { "if-match": etag } });
    expect((await put(catalog.products.slice(1))).status).toBe(200);
    const late = await put(catalog.products.slice(2));
    expect([late.status, await late.json()]).toMatchObject([412, { code: "precondition_failed" }]);
    expect(await seller.getJson("/v1/catalog/")).toEqual(catalog.products.slice(1));
  });

  it("is nobody else's to read or change", async () => {
    const other = await createCatalogLocation();
    const address = `/v1/catalog/?locationId=${shop.locationId}`;
    expect((await other.request("GET", address)).status).toBe(403);
    expect((await other.request("PUT", address, { body: catalog })).status).toBe(403);
    expect(await other.getJson("/v1/catalog/payments/")).toEqual([]);
    const reader = await createTestLocation(product, { scopes: ["catalog:read"] });
    expect((await reader.request("PUT", "/v1/catalog/", { body: catalog })).status).toBe(403);
  });

  it("may be large, and come with gzip", async () => {
    const seller = await createCatalogLocation();
    const large = catalogWithProducts(10_000);
    const body = gzipSync(JSON.stringify(large), { level: 1 });
    const answer = await seller.request("PUT", "/v1/catalog/", { body, headers: gzipped });
    expect([answer.status, await answer.json()]).toMatchObject([200, { counts: { products: 10_000 } }]);
    expect(await seller.getJson("/v1/catalog/")).toEqual(large.products);
  });

  it("is one version in all its lists, whenever the service is killed while it is replaced", async () => {
    const seller = await createCatalogLocation();
    await seller.request("PUT", "/v1/catalog/", { body: findByName("before") });
    for (const delay of [10, 40, 90]) {
      const replacing = ["a", "b", "c", "d"].map((version) =>
        seller.request("PUT", "/v1/catalog/", { body: findByName(`${version}-${delay}`) }).catch(() => null),
      );
      await sleep(delay);
      await product.process("catalog").kill();
      await Promise.all(replacing);
      await product.process("catalog").start();
      const lists = await Promise.all(
        Object.values(catalogPaths).map((path) => seller.getJson<{ name: string }[]>(path)),
      );
      const versions = lists.flatMap((items) => items.map(({ name }) => name));
      expect(new Set(versions).size).toBe(1);
    }
    expect((await seller.request("PUT", "/v1/catalog/", { body: findByName("after") })).status).toBe(200);
    expect(await seller.getJson("/v1/catalog/")).toEqual(findByName("after").products);
  }, 90_000);
});

/** A large catalogue in which everything has this name. */
function findByName(name: string): Catalog {
  const { products, payments, taxes, modifiers, categories } = catalogWithProducts(800);
  const rename = <Item extends object>(items: Item[]) => items.map((item) => ({ ...item, name }));
  return {
    products: products.map((product, index) => ({ ...product, id: `product-${index}`, name })),
    payments: rename(payments),
    taxes: rename(taxes),
    modifiers: rename(modifiers),
    categories: rename(categories),
  };
}

const gzipped = { "content-encoding": "gzip", "content-type": "application/json" };
