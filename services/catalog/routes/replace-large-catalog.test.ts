import { gzipSync } from "node:zlib";
import { measureLongestEventLoopBlockMs } from "@pragma/runtime/testing/measure-event-loop-block";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parseCatalogBody } from "../parse-catalog-body.ts";
import { createTestCatalog } from "../testing/catalog-fixture.ts";
import { catalogPrincipal, startTestCatalog, type TestCatalogService } from "../testing/start-test-catalog.ts";

const mebibyte = 1024 * 1024;
const path = "/v1/catalog/";
let service: TestCatalogService;
const { principal } = catalogPrincipal();

beforeAll(async () => {
  service = await startTestCatalog();
  // The thread is there when the tests begin.
  await service.replaceCatalog(principal, createTestCatalog({ products: 500 }));
});
afterAll(() => service?.remove());

describe("a catalogue of 20,000 products", () => {
  const catalog = createTestCatalog({ products: 20_000 });
  const bytes = Buffer.from(JSON.stringify(catalog));

  it("is taken, and holds up no other request", async () => {
    const block = await measureLongestEventLoopBlockMs(() => service.replaceCatalog(principal, bytes));
    const started = performance.now();
    parseCatalogBody(bytes);
    expect(block).toBeLessThan((performance.now() - started) / 2);
    expect(await service.readList(principal, "products")).toEqual(catalog.products);
  });

  it("is known when it comes again, with gzip", async () => {
    const again = await service.replaceCatalog(principal, gzipSync(bytes), { "content-encoding": "gzip" });
    expect(again).toMatchObject({ changed: false, counts: { products: 20_000 } });
  });

  it("is refused for one reference in its last product", async () => {
    const products = [...catalog.products.slice(0, -1), { ...catalog.products[0], id: "last", categoryId: "gone" }];
    const problem = await service.requestProblem("PUT", path, { principal, body: { ...catalog, products } });
    expect(problem.errors).toMatchObject([{ path: "products[19999].categoryId", code: "unknown_reference" }]);
  });

  it("is refused when it breaks off, and the reply says where", async () => {
    const problem = await service.requestProblem("PUT", path, { principal, body: bytes.subarray(0, mebibyte) });
    expect(problem).toMatchObject({ code: "malformed_json", detail: expect.stringMatching(/position 104\d{4} /) });
  });

  it("is the largest: one of 20,001 is refused", async () => {
    const problem = await service.requestProblem("PUT", path, {
      principal,
      body: createTestCatalog({ products: 20_001 }),
    });
    expect(problem.errors).toMatchObject([{ path: "products", code: "too_big" }]);
  });
});

describe("a body that is too large", () => {
  it.each([
    ["21 MB", Buffer.alloc(21 * mebibyte, " "), {}],
    ["21 MB with gzip", gzipSync(Buffer.alloc(21 * mebibyte, " ")), { "content-encoding": "gzip" }],
  ])("of %s is refused", async (_, body, headers) => {
    const problem = await service.requestProblem("PUT", path, {
      principal,
      body,
      headers: headers as Record<string, string>,
    });
    expect(problem).toMatchObject({ status: 413, code: "body_too_large" });
  });
});

describe("a body that is made to be costly", () => {
  const lists = (products: string) =>
    `{"products":${products},"payments":[],"taxes":[],"modifiers":[],"categories":[]}`;
  it.each([
    ["empty products", () => lists(`[${"{},".repeat(6 * mebibyte)}{}]`)],
    ["brackets", () => "[".repeat(19 * mebibyte)],
    ["numbers for products", () => lists(`[${"0,".repeat(9 * mebibyte)}0]`)],
    ["one product of millions of prices", () => lists(`[{"priceList":[${"0,".repeat(9 * mebibyte)}0]}]`)],
    ["products of many empty prices", () => lists(`[${`{"priceList":[${"{},".repeat(900)}{}]},`.repeat(400)}{}]`)],
    ["deep nesting", () => lists(`[${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}]`)],
    ["a text of 19 MB", () => JSON.stringify("x".repeat(19 * mebibyte))],
    ["a name of 19 MB", () => lists(`[{"name":"${"x".repeat(19 * mebibyte)}","categoryId":"gone"}]`)],
  ])("of %s is refused within seconds, with a small reply", async (_, body) => {
    const started = performance.now();
    const response = await service.request("PUT", path, { principal, body: body() });
    expect(response.status).toBe(400);
    expect((await response.text()).length).toBeLessThan(100_000);
    expect(performance.now() - started).toBeLessThan(8_000);
  });
});
