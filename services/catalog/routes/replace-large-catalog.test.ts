import { gzipSync } from "node:zlib";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseAndSerializeCatalogBody } from "../parse-catalog-body.ts";
import { buildTestCatalog } from "../testing/catalog-fixture.ts";
import {
  buildTestCatalogPrincipalAndLocation,
  startTestCatalogService,
  type TestCatalogService,
} from "../testing/start-test-catalog.ts";

const mebibyte = 1024 * 1024;
const path = "/v1/catalog/";
let service: TestCatalogService;
const { principal } = buildTestCatalogPrincipalAndLocation();

beforeAll(async () => {
  service = await startTestCatalogService();
  // Starts the parser thread, so that the tests do not wait for its start.
  await service.replaceCatalog(principal, buildTestCatalog({ products: 500 }));
});
afterAll(() => service?.remove());

describe("a catalog of 20,000 products", () => {
  const catalog = buildTestCatalog({ products: 20_000 });
  const bytes = Buffer.from(JSON.stringify(catalog));

  it("is stored without blocking other requests", async () => {
    const block = await measureLongestEventLoopBlockMs(() => service.replaceCatalog(principal, bytes));
    const started = performance.now();
    parseAndSerializeCatalogBody(bytes);
    expect(block).toBeLessThan((performance.now() - started) / 2);
    expect(await service.readList(principal, "products")).toEqual(catalog.products);
  });

  it("changes nothing when it is sent again with gzip", async () => {
    const again = await service.replaceCatalog(principal, gzipSync(bytes), { "content-encoding": "gzip" });
    expect(again).toMatchObject({ changed: false, counts: { products: 20_000 } });
  });

  it("is rejected for one unknown reference in its last product", async () => {
    const products = [...catalog.products.slice(0, -1), { ...catalog.products[0], id: "last", categoryId: "gone" }];
    const problem = await service.requestProblem({ method: "PUT", path, principal, body: { ...catalog, products } });
    expect(problem.errors).toMatchObject([{ path: "products[19999].categoryId", code: "unknown_reference" }]);
  });

  it("is rejected when it is truncated, with the position in the response", async () => {
    const problem = await service.requestProblem({ method: "PUT", path, principal, body: bytes.subarray(0, mebibyte) });
    expect(problem).toMatchObject({ code: "malformed_json", detail: expect.stringMatching(/position 104\d{4} /) });
  });

  it("has the maximum size: a catalog of 20,001 products is rejected", async () => {
    const problem = await service.requestProblem({
      method: "PUT",
      path,
      principal,
      body: buildTestCatalog({ products: 20_001 }),
    });
    expect(problem.errors).toMatchObject([{ path: "products", code: "too_big" }]);
  });
});

describe("a body that is too large", () => {
  it.each([
    ["21 MB", Buffer.alloc(21 * mebibyte, " "), {}],
    ["21 MB with gzip", gzipSync(Buffer.alloc(21 * mebibyte, " ")), { "content-encoding": "gzip" }],
  ])("of %s is rejected", async (_, body, headers) => {
    const problem = await service.requestProblem({
      method: "PUT",
      path,
      principal,
      body,
      headers: headers as Record<string, string>,
    });
    expect(problem).toMatchObject({ status: 413, code: "body_too_large" });
  });
});

describe("a body that is expensive to parse", () => {
  const lists = (products: string) =>
    `{"products":${products},"payments":[],"taxes":[],"modifiers":[],"categories":[]}`;
  it.each([
    ["empty products", () => lists(`[${"{},".repeat(6 * mebibyte)}{}]`)],
    ["brackets", () => "[".repeat(19 * mebibyte)],
    ["numbers for products", () => lists(`[${"0,".repeat(9 * mebibyte)}0]`)],
    ["one product with millions of prices", () => lists(`[{"priceList":[${"0,".repeat(9 * mebibyte)}0]}]`)],
    ["products with many empty prices", () => lists(`[${`{"priceList":[${"{},".repeat(900)}{}]},`.repeat(400)}{}]`)],
    ["deep nesting", () => lists(`[${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}]`)],
    ["a string of 19 MB", () => JSON.stringify("x".repeat(19 * mebibyte))],
    ["a name of 19 MB", () => lists(`[{"name":"${"x".repeat(19 * mebibyte)}","categoryId":"gone"}]`)],
  ])("of %s is rejected within seconds, with a small response", async (_, body) => {
    const started = performance.now();
    const response = await service.request("PUT", path, { principal, body: body() });
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(100_000);
    // It takes less than 1 s on a quiet machine, and minutes if the time grows with the square of the size.
    expect(performance.now() - started).toBeLessThan(40_000);
  });
});
