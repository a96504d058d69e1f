import { catalogItemListNames } from "@pragma/contracts/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { buildTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildTestCatalog } from "../testing/catalog-fixture.ts";
import {
  buildTestCatalogPrincipalAndLocation,
  startTestCatalogService,
  type TestCatalogService,
  testCatalogListPathsAndSchemas,
} from "../testing/start-test-catalog.ts";

let service: TestCatalogService;
const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
const catalog = buildTestCatalog({ products: 9 });

beforeAll(async () => {
  service = await startTestCatalogService();
  await service.replaceCatalog(principal, catalog);
});
afterAll(() => service?.remove());

describe.each(catalogItemListNames)("the list of %s", (list) => {
  const { path } = testCatalogListPathsAndSchemas[list];
  const requestList = (headers: Record<string, string> = {}, method = "GET") =>
    service.request(method, path, { principal, headers });

  it("is an array of all stored items, with and without the trailing slash", async () => {
    expect(await service.readList(principal, list)).toEqual(catalog[list]);
    const response = await service.request("GET", path.replace(/\/$/, ""), { principal });
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(await response.json()).toEqual(catalog[list]);
  });

  it("returns 304 for its current entity tag", async () => {
    const etag = (await requestList()).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await requestList({ "if-none-match": known });
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
    }
    const response = await requestList({ "if-none-match": '"other"' });
    expect([response.status, await response.json()]).toEqual([200, catalog[list]]);
  });

  it("is empty, with an entity tag, for a location without a catalog", async () => {
    const otherPrincipal = buildTestPrincipal({ scopes: ["catalog:read"] });
    const response = await service.request("GET", path, { principal: otherPrincipal });
    expect([response.status, await response.text()]).toEqual([200, "[]"]);
    const conditionalRequest = {
      principal: otherPrincipal,
      headers: { "if-none-match": response.headers.get("etag") ?? "" },
    };
    expect((await service.request("GET", path, conditionalRequest)).status).toBe(304);
  });

  it("returns the headers of GET for HEAD, without the body", async () => {
    const response = await requestList({}, "HEAD");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("etag")).toBe((await requestList()).headers.get("etag"));
  });

  it("returns 403 for a key without the scope, and for a key of another location", async () => {
    const writer = buildTestPrincipal({ scopes: ["catalog:write"] });
    expect(await service.requestProblem({ method: "GET", path, principal: writer })).toMatchObject({
      code: "scope_missing",
    });
    const otherPrincipal = buildTestPrincipal({ scopes: ["catalog:read"] });
    const problem = await service.requestProblem({
      method: "GET",
      path: `${path}?locationId=${locationId}`,
      principal: otherPrincipal,
    });
    expect(problem).toMatchObject({ status: 403, code: "location_forbidden" });
  });

  it("is returned for the location in the query to a key that may act for any location", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const withLocation = await service.request("GET", `${path}?locationId=${locationId.toUpperCase()}`, {
      principal: operator,
    });
    expect(await withLocation.json()).toEqual(catalog[list]);
    const problem = await service.requestProblem({ method: "GET", path, principal: operator });
    expect(problem.errors).toMatchObject([{ in: "query", path: "locationId", code: "required" }]);
    const malformed = await service.requestProblem({
      method: "GET",
      path: `${path}?locationId=7`,
      principal: operator,
    });
    expect(malformed.errors).toMatchObject([{ in: "query", path: "locationId" }]);
  });
});

describe("an archived product", () => {
  it("is in the list, without sub-categories", async () => {
    const products = (await service.readList(principal, "products")) as { id: string; subCategories: unknown[] }[];
    const archived = products.filter(({ subCategories }) => subCategories.length === 0).map(({ id }) => id);
    expect(archived).toEqual(["product-3", "product-7"]);
  });
});

it("reads one list per API key at a time, and lists of other keys concurrently", async () => {
  const otherPrincipal = buildTestCatalogPrincipalAndLocation().principal;
  const { sql } = service.db;
  const countWaitingReads = async () => {
    const [counted] = await sql<[{ count: number }]>`
      select count(*) from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%catalog_lists%' and application_name like ${`${service.db.schema} %`}`;
    return counted.count;
  };
  const responses: Promise<Response>[] = [];
  await sql.begin(async (tx) => {
    await tx`lock table catalog_lists in access exclusive mode`;
    for (let count = 0; count < 4; count += 1) responses.push(service.request("GET", "/v1/catalog/", { principal }));
    responses.push(service.request("GET", "/v1/catalog/", { principal: otherPrincipal }));
    await eventually("one read of each key to wait", async () => (await countWaitingReads()) >= 2);
    expect(await countWaitingReads()).toBe(2);
  });
  expect((await Promise.all(responses)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
