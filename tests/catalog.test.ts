import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { type Catalog, catalogItemListNames } from "@pragma/contracts/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { listPublishedTestEvents } from "@pragma/runtime/testing/published-events";
import { createMigratedTestEnvironment, type IsolatedTestEnvironment } from "@pragma/runtime/testing/test-environment";
import { generateRestaurant } from "@pragma/simulator/restaurant";
import { buildRestaurantCatalog } from "@pragma/simulator/restaurant-catalog";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type PragmaUnderTest, startPragmaUnderTest } from "./harness/pragma-under-test.ts";
import { createTestLocation, type TestLocation } from "./harness/test-location.ts";

let environment: IsolatedTestEnvironment;
let product: PragmaUnderTest;
let testLocation: TestLocation;

beforeAll(async () => {
  environment = await createMigratedTestEnvironment();
  product = await startPragmaUnderTest(environment.variables, { split: ["accounts", "catalog"] });
  testLocation = await createCatalogLocation();
}, 300_000);
afterAll(async () => {
  await product?.stop();
  await environment?.remove();
});

const createCatalogLocation = () => createTestLocation(product, { scopes: ["catalog:read", "catalog:write"] });
const catalog = buildRestaurantCatalog(generateRestaurant("catalog"));
const catalogPaths = {
  products: "/v1/catalog",
  payments: "/v1/catalog/payments",
  taxes: "/v1/catalog/taxes",
  modifiers: "/v1/catalog/modifiers",
  categories: "/v1/catalog/categories",
};

/** Returns a catalog with `count` products, which are copies of the restaurant's products. */
function catalogWithProducts(count: number): Catalog {
  const products = Array.from({ length: count }, (_, index) => {
    const template = catalog.products[index % catalog.products.length];
    return { ...template, id: crypto.randomUUID(), name: `${template?.name} ${index}` } as Catalog["products"][number];
  });
  return { ...catalog, products };
}

describe("the catalog of a location", () => {
  it("is empty at first, then equals the catalog that the POS sent, with an event", async () => {
    for (const path of Object.values(catalogPaths)) expect(await testLocation.getJson(path)).toEqual([]);
    const response = await testLocation.request("PUT", "/v1/catalog", { body: catalog });
    const { etag, ...replaced } = (await response.json()) as { etag: string };
    expect([response.status, replaced]).toMatchObject([200, { changed: true, locationId: testLocation.locationId }]);
    for (const list of catalogItemListNames) {
      expect(await testLocation.getJson(catalogPaths[list])).toEqual(catalog[list]);
      expect(await testLocation.getJson(`${catalogPaths[list]}/`)).toEqual(catalog[list]);
    }
    const publishedEvents = await eventually("the event", async () => {
      const events = await listPublishedTestEvents(environment, "catalog.updated", testLocation.locationId);
      return events.length > 0 && events;
    });
    expect(publishedEvents).toMatchObject([{ etag, counts: { products: catalog.products.length } }]);
  });

  it("returns 304 for a current ETag, and 412 for a change based on an older ETag", async () => {
    const seller = await createCatalogLocation();
    await seller.request("PUT", "/v1/catalog/", { body: catalog });
    const etag = (await seller.request("GET", "/v1/catalog/")).headers.get("etag") ?? "";
    expect((await seller.request("GET", "/v1/catalog/", { headers: { "if-none-match": etag } })).status).toBe(304);
    const replaceProducts = (products: Catalog["products"]) =>
      seller.request("PUT", "/v1/catalog/", { body: { ...catalog, products }, headers: { "if-match": etag } });
    expect((await replaceProducts(catalog.products.slice(1))).status).toBe(200);
    const conflicting = await replaceProducts(catalog.products.slice(2));
    expect([conflicting.status, await conflicting.json()]).toMatchObject([412, { code: "precondition_failed" }]);
    expect(await seller.getJson("/v1/catalog/")).toEqual(catalog.products.slice(1));
  });

  it("cannot be read or changed by another location", async () => {
    const other = await createCatalogLocation();
    const path = `/v1/catalog/?locationId=${testLocation.locationId}`;
    expect((await other.request("GET", path)).status).toBe(403);
    expect((await other.request("PUT", path, { body: catalog })).status).toBe(403);
    expect(await other.getJson("/v1/catalog/payments/")).toEqual([]);
    const reader = await createTestLocation(product, { scopes: ["catalog:read"] });
    expect((await reader.request("PUT", "/v1/catalog/", { body: catalog })).status).toBe(403);
  });

  it("can be large and compressed with gzip", async () => {
    const seller = await createCatalogLocation();
    const large = catalogWithProducts(10_000);
    const body = gzipSync(JSON.stringify(large), { level: 1 });
    const response = await seller.request("PUT", "/v1/catalog/", { body, headers: gzipHeaders });
    expect([response.status, await response.json()]).toMatchObject([200, { counts: { products: 10_000 } }]);
    expect(await seller.getJson("/v1/catalog/")).toEqual(large.products);
  });

  it("has the same version in all lists when the service is killed during a replacement", async () => {
    const seller = await createCatalogLocation();
    await seller.request("PUT", "/v1/catalog/", { body: createCatalogNamed("before") });
    for (const delayMs of [10, 40, 90]) {
      const replacing = ["a", "b", "c", "d"].map((version) =>
        seller.request("PUT", "/v1/catalog/", { body: createCatalogNamed(`${version}-${delayMs}`) }).catch(() => null),
      );
      await sleep(delayMs);
      await product.process("catalog").kill();
      await Promise.all(replacing);
      await product.process("catalog").start();
      const lists = await Promise.all(
        Object.values(catalogPaths).map((path) => seller.getJson<{ name: string }[]>(path)),
      );
      const versions = lists.flatMap((items) => items.map(({ name }) => name));
      expect(new Set(versions).size).toBe(1);
    }
    expect((await seller.request("PUT", "/v1/catalog/", { body: createCatalogNamed("after") })).status).toBe(200);
    expect(await seller.getJson("/v1/catalog/")).toEqual(createCatalogNamed("after").products);
  }, 90_000);
});

/** Returns a large catalog in which all items have the same name, so that a mix of two catalogs can be detected. */
function createCatalogNamed(name: string): Catalog {
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

const gzipHeaders = { "content-encoding": "gzip", "content-type": "application/json" };
