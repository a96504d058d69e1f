import { catalogListNames } from "@pragma/contracts/catalog";
import { eventually } from "@pragma/runtime/testing/eventually";
import { createTestPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestCatalog } from "../testing/catalog-fixture.ts";
import {
  catalogListEndpoints,
  catalogPrincipal,
  startTestCatalog,
  type TestCatalogService,
} from "../testing/start-test-catalog.ts";

let service: TestCatalogService;
const { principal, locationId } = catalogPrincipal();
const catalog = createTestCatalog({ products: 9 });

beforeAll(async () => {
  service = await startTestCatalog();
  await service.replaceCatalog(principal, catalog);
});
afterAll(() => service?.remove());

describe.each(catalogListNames)("the list of %s", (list) => {
  const { path } = catalogListEndpoints[list];
  const ask = (headers: Record<string, string> = {}, method = "GET") =>
    service.request(method, path, { principal, headers });

  it("is a bare array of everything that was sent, with and without the trailing slash", async () => {
    expect(await service.readList(principal, list)).toEqual(catalog[list]);
    const response = await service.request("GET", path.replace(/\/$/, ""), { principal });
    expect(response.headers.get("content-type")).toMatch(/^application\/json\b/);
    expect(await response.json()).toEqual(catalog[list]);
  });

  it("is not sent again to who has it", async () => {
    const etag = (await ask()).headers.get("etag") ?? "";
    expect(etag).toMatch(/^"[\w-]{22}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
      const response = await ask({ "if-none-match": known });
      expect([response.status, await response.text(), response.headers.get("etag")]).toEqual([304, "", etag]);
    }
    const response = await ask({ "if-none-match": '"other"' });
    expect([response.status, await response.json()]).toEqual([200, catalog[list]]);
  });

  it("is empty for a location that has no catalogue, and has a tag then, too", async () => {
    const nobody = createTestPrincipal({ scopes: ["catalog:read"] });
    const response = await service.request("GET", path, { principal: nobody });
    expect([response.status, await response.text()]).toEqual([200, "[]"]);
    const again = { principal: nobody, headers: { "if-none-match": response.headers.get("etag") ?? "" } };
    expect((await service.request("GET", path, again)).status).toBe(304);
  });

  it("answers HEAD as it would answer GET, without the body", async () => {
    const response = await ask({}, "HEAD");
    expect([response.status, await response.text()]).toEqual([200, ""]);
    expect(response.headers.get("etag")).toBe((await ask()).headers.get("etag"));
  });

  it("is refused to a key without the scope, and to a key of another location", async () => {
    const writer = createTestPrincipal({ scopes: ["catalog:write"] });
    expect(await service.requestProblem("GET", path, { principal: writer })).toMatchObject({ code: "scope_missing" });
    const other = createTestPrincipal({ scopes: ["catalog:read"] });
    const refusal = await service.requestProblem("GET", `${path}?locationId=${locationId}`, { principal: other });
    expect(refusal).toMatchObject({ status: 403, code: "location_forbidden" });
  });

  it("is read by who names its location and may act for any", async () => {
    const operator = createTestPrincipal({ scopes: ["admin"], location: null });
    const named = await service.request("GET", `${path}?locationId=${locationId.toUpperCase()}`, {
      principal: operator,
    });
    expect(await named.json()).toEqual(catalog[list]);
    const refusal = await service.requestProblem("GET", path, { principal: operator });
    expect(refusal.errors).toMatchObject([{ in: "query", path: "locationId", code: "required" }]);
    const malformed = await service.requestProblem("GET", `${path}?locationId=7`, { principal: operator });
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

it("is read for one request of a key at a time, while other keys' are read beside it", async () => {
  const other = catalogPrincipal().principal;
  const { sql } = service.db;
  const waiting = async () => {
    const [counted] = await sql<[{ count: number }]>`
      select count(*) from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%catalog_lists%' and application_name like ${`${service.db.schema} %`}`;
    return counted.count;
  };
  const asked: Promise<Response>[] = [];
  await sql.begin(async (tx) => {
    await tx`lock table catalog_lists in access exclusive mode`;
    for (let count = 0; count < 4; count += 1) asked.push(service.request("GET", "/v1/catalog/", { principal }));
    asked.push(service.request("GET", "/v1/catalog/", { principal: other }));
    await eventually("both keys to be read for", async () => (await waiting()) >= 2);
    expect(await waiting()).toBe(2);
  });
  expect((await Promise.all(asked)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
});
