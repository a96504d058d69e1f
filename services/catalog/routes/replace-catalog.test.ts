import { type Catalog, type CatalogItemListName, catalogItemListNames } from "@pragma/contracts/catalog";
import { catalogExample } from "@pragma/contracts/examples/catalog";
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

beforeAll(async () => {
  service = await startTestCatalogService();
});
afterAll(() => service?.remove());

const path = "/v1/catalog/";
type CatalogPrincipal = ReturnType<typeof buildTestCatalogPrincipalAndLocation>["principal"];

async function readAllLists(principal: CatalogPrincipal) {
  const entries = await Promise.all(
    catalogItemListNames.map(async (list) => [list, await service.readList(principal, list)] as const),
  );
  return Object.fromEntries(entries);
}

async function findListEtag(principal: CatalogPrincipal, list: CatalogItemListName) {
  return (await service.request("GET", testCatalogListPathsAndSchemas[list].path, { principal })).headers.get("etag");
}

describe("PUT /v1/catalog/", () => {
  it("stores the five lists, and publishes catalog.updated", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const replaced = await service.replaceCatalog(principal, catalogExample);
    const counts = { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 };
    expect(replaced).toMatchObject({ locationId, changed: true, counts });
    expect(await readAllLists(principal)).toEqual(catalogExample);
    expect(await service.readCatalogUpdatedEvents(locationId)).toEqual([{ locationId, etag: replaced.etag, counts }]);
  });

  it("returns 429 beyond the daily bytes, and does not count a repeated catalog", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    const catalog = buildTestCatalog({ products: 50 });
    const bytes = Buffer.byteLength(JSON.stringify(catalog));
    const limited = await startTestCatalogService({ MAX_CATALOG_BYTES_PER_DAY: String(bytes * 2) });
    for (let attempt = 0; attempt < 4; attempt += 1) await limited.replaceCatalog(principal, catalog);
    await limited.replaceCatalog(principal, buildTestCatalog({ products: 10 }));
    const problem = await limited.requestProblem({
      method: "PUT",
      path: "/v1/catalog/",
      principal,
      body: buildTestCatalog({ products: 49 }),
    });
    expect(problem).toMatchObject({ code: "quota_exceeded", limit: { name: "catalog_bytes", maximum: bytes * 2 } });
    await limited.replaceCatalog(buildTestCatalogPrincipalAndLocation().principal, catalog);
    await limited.remove();
  });

  it("returns 429 beyond the daily number of changed catalogs, however small they are", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const first = buildTestCatalog({ products: 1 });
    await service.replaceCatalog(principal, first);
    await service.db.sql`
      update daily_usage set used = 20000 where location_id = ${locationId} and quota = 'catalogs'`;
    await service.replaceCatalog(principal, first);
    const body = buildTestCatalog({ products: 2 });
    expect(await service.requestProblem({ method: "PUT", path: "/v1/catalog/", principal, body })).toMatchObject({
      code: "quota_exceeded",
      limit: { name: "catalogs", maximum: 20_000 },
    });
  });

  it("replaces the whole previous catalog", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    await service.replaceCatalog(principal, buildTestCatalog({ products: 50 }));
    const other: Catalog = { ...buildTestCatalog({ products: 2, mark: "two" }), modifiers: [], payments: [] };
    expect(await service.replaceCatalog(principal, other)).toMatchObject({
      changed: true,
      counts: { products: 2, payments: 0, modifiers: 0 },
    });
    expect(await readAllLists(principal)).toEqual(other);
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(2);
  });

  it("accepts an empty catalog", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    await service.replaceCatalog(principal, buildTestCatalog());
    const empty = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };
    expect(await service.replaceCatalog(principal, empty)).toMatchObject({
      changed: true,
      counts: { products: 0, taxes: 0 },
    });
    expect(await readAllLists(principal)).toEqual(empty);
  });

  it("replaces the catalog of an existing location for a key that may act for any location", async () => {
    const operator = buildTestPrincipal({ scopes: ["admin"], location: null });
    const { id } = service.accounts.addLocation();
    const response = await service.request("PUT", `${path}?locationId=${id}`, {
      principal: operator,
      body: buildTestCatalog(),
    });
    expect([response.status, await response.json()]).toMatchObject([200, { locationId: id, changed: true }]);
    const unknown = `${path}?locationId=${crypto.randomUUID()}`;
    const problem = await service.requestProblem({
      method: "PUT",
      path: unknown,
      principal: operator,
      body: buildTestCatalog(),
    });
    expect(problem).toMatchObject({ status: 404, code: "location_not_found" });
    const missingLocation = await service.requestProblem({
      method: "PUT",
      path,
      principal: operator,
      body: buildTestCatalog(),
    });
    expect(missingLocation).toMatchObject({ status: 400, errors: [{ path: "locationId", code: "required" }] });
  });
});

describe("a repeated catalog", () => {
  it("changes nothing, publishes nothing, and returns the same entity tag and time", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const first = await service.replaceCatalog(principal, buildTestCatalog());
    expect(await service.replaceCatalog(principal, buildTestCatalog())).toEqual({ ...first, changed: false });
    const reordered = Object.fromEntries(Object.entries(buildTestCatalog()).reverse());
    expect(await service.replaceCatalog(principal, { ...reordered, note: "ignored" })).toEqual({
      ...first,
      changed: false,
    });
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(1);
  });

  it("is a change after another catalog", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const first = await service.replaceCatalog(principal, buildTestCatalog());
    await service.replaceCatalog(principal, buildTestCatalog({ mark: "two" }));
    expect(await service.replaceCatalog(principal, buildTestCatalog())).toMatchObject({
      changed: true,
      etag: first.etag,
    });
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(3);
  });

  it("keeps the entity tags of unchanged lists", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    await service.replaceCatalog(principal, buildTestCatalog());
    const before = await Promise.all(catalogItemListNames.map((list) => findListEtag(principal, list)));
    await service.replaceCatalog(principal, { ...buildTestCatalog(), payments: [] });
    const after = await Promise.all(catalogItemListNames.map((list) => findListEtag(principal, list)));
    // The entity tag of the products changes too, because the list of products has the tag of the whole catalog.
    expect(catalogItemListNames.filter((_, index) => before[index] !== after[index])).toEqual(["products", "payments"]);
  });
});

describe("If-Match", () => {
  const put = (principal: CatalogPrincipal, mark: string, ifMatch: string) =>
    service.request("PUT", path, { principal, body: buildTestCatalog({ mark }), headers: { "if-match": ifMatch } });

  it("allows replacing the catalog that was read", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    const { etag } = await service.replaceCatalog(principal, buildTestCatalog());
    expect(await findListEtag(principal, "products")).toBe(`"${etag}"`);
    expect((await put(principal, "two", `"${etag}"`)).status).toBe(200);
    expect((await put(principal, "three", "*")).status).toBe(200);
  });

  it("returns 412 with the current entity tag if any list has changed since", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const staleEtag = (await service.replaceCatalog(principal, buildTestCatalog())).etag;
    const { etag } = await service.replaceCatalog(principal, { ...buildTestCatalog(), payments: [] });
    const response = await put(principal, "two", `"${staleEtag}"`);
    expect([response.status, response.headers.get("etag")]).toEqual([412, `"${etag}"`]);
    expect(await response.json()).toMatchObject({ code: "precondition_failed" });
    expect(await service.readList(principal, "payments")).toEqual([]);
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(2);
  });

  it("accepts a repeated request whose response was lost", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    const { etag } = await service.replaceCatalog(principal, buildTestCatalog());
    const responses = [await put(principal, "two", `"${etag}"`), await put(principal, "two", `"${etag}"`)];
    expect(await Promise.all(responses.map((response) => response.json()))).toMatchObject([
      { changed: true },
      { changed: false },
    ]);
  });

  it("applies to the empty catalog of a new location", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    expect((await put(principal, "one", '"other"')).status).toBe(412);
    expect(await service.db.sql`select 1 from catalogs where location_id = ${locationId}`).toHaveLength(0);
    expect((await put(principal, "one", (await findListEtag(principal, "products")) ?? "")).status).toBe(200);
  });

  it("accepts one of many concurrent requests with the same entity tag", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const { etag } = await service.replaceCatalog(principal, buildTestCatalog());
    const marks = ["a", "b", "c", "d", "e", "f"];
    const responses = await Promise.all(marks.map((mark) => put(principal, mark, `"${etag}"`)));
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(2);
  });
});

describe("an invalid catalog", () => {
  it("is rejected with all its issues, and changes nothing", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    await service.replaceCatalog(principal, buildTestCatalog());
    const [product] = buildTestCatalog().products;
    const body = {
      ...buildTestCatalog({ mark: "two" }),
      products: [product, { ...product, categoryId: "gone", name: null }],
      taxes: [{ id: "tax", name: "VAT", percentage: 1000 }],
    };
    const problem = await service.requestProblem({ method: "PUT", path, principal, body });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "products[1].id duplicate",
      "products[1].name invalid_type",
      "products[0].priceList[1].taxRate unknown_reference",
      "products[1].categoryId unknown_reference",
      "products[1].priceList[1].taxRate unknown_reference",
    ]);
    expect(await readAllLists(principal)).toEqual(buildTestCatalog());
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(1);
  });

  it("is rejected if one list is missing", async () => {
    const { principal } = buildTestCatalogPrincipalAndLocation();
    const { modifiers, ...body } = buildTestCatalog();
    const problem = await service.requestProblem({ method: "PUT", path, principal, body });
    expect(problem.errors).toMatchObject([{ path: "modifiers", code: "required" }]);
  });

  it.each([
    ["invalid JSON", "{", "malformed_json"],
    ["an empty body", "", "malformed_json"],
    ["a list", "[]", "invalid_request"],
  ])("is rejected for %s", async (_, body, code) => {
    expect(
      await service.requestProblem({
        method: "PUT",
        path,
        principal: buildTestCatalogPrincipalAndLocation().principal,
        body,
      }),
    ).toMatchObject({
      code,
    });
  });

  it("returns 403 for a key without the scope, and for a key of another location", async () => {
    const reader = buildTestPrincipal({ scopes: ["catalog:read"] });
    const body = buildTestCatalog();
    expect(await service.requestProblem({ method: "PUT", path, principal: reader, body })).toMatchObject({
      code: "scope_missing",
    });
    const { locationId } = buildTestCatalogPrincipalAndLocation();
    const otherRequest = { principal: buildTestCatalogPrincipalAndLocation().principal, body };
    expect(
      await service.requestProblem({ method: "PUT", path: `${path}?locationId=${locationId}`, ...otherRequest }),
    ).toMatchObject({
      code: "location_forbidden",
    });
  });
});

describe("concurrent catalogs", () => {
  it("replace each other as a whole, so that readers never see a mix of two", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const marks = Array.from({ length: 12 }, (_, index) => `mark-${index}`);
    await service.replaceCatalog(principal, buildTestCatalog({ products: 60, mark: "before" }));
    const marksIn = (value: unknown) => new Set(JSON.stringify(value).match(/mark-\d+|before/g));
    let isFinished = false;
    const reading = (async () => {
      const markCounts: number[] = [];
      while (!isFinished) markCounts.push(marksIn(await service.readList(principal, "products")).size);
      return markCounts;
    })();
    await Promise.all(
      marks.map((mark, index) => service.replaceCatalog(principal, buildTestCatalog({ products: 60 + index, mark }))),
    );
    isFinished = true;
    expect(new Set(await reading)).toEqual(new Set([1]));
    const last = await readAllLists(principal);
    expect(marksIn(last).size).toBe(1);
    const [mark = ""] = marksIn(last);
    expect(last).toEqual(buildTestCatalog({ products: 60 + marks.indexOf(mark), mark }));
    const events = await service.readCatalogUpdatedEvents(locationId);
    expect(events).toHaveLength(13);
    expect(`"${events.at(-1)?.etag}"`).toBe(await findListEtag(principal, "products"));
  });

  it("change the catalog of a new location once if they are equal", async () => {
    const { principal, locationId } = buildTestCatalogPrincipalAndLocation();
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => service.replaceCatalog(principal, buildTestCatalog())),
    );
    expect(responses.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await service.readCatalogUpdatedEvents(locationId)).toHaveLength(1);
  });
});
