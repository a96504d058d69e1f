import { type Catalog, type CatalogListName, catalogListNames } from "@pragma/contracts/catalog";
import { catalogExample } from "@pragma/contracts/examples/catalog";
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

beforeAll(async () => {
  service = await startTestCatalog();
});
afterAll(() => service?.remove());

const path = "/v1/catalog/";
type CatalogPrincipal = ReturnType<typeof catalogPrincipal>["principal"];

async function readAllLists(principal: CatalogPrincipal) {
  const entries = await Promise.all(
    catalogListNames.map(async (list) => [list, await service.readList(principal, list)] as const),
  );
  return Object.fromEntries(entries);
}

async function findListEtag(principal: CatalogPrincipal, list: CatalogListName) {
  return (await service.request("GET", catalogListEndpoints[list].path, { principal })).headers.get("etag");
}

describe("a catalogue that is put", () => {
  it("is read back in five lists, and announced", async () => {
    const { principal, locationId } = catalogPrincipal();
    const replaced = await service.replaceCatalog(principal, catalogExample);
    const counts = { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 };
    expect(replaced).toMatchObject({ locationId, changed: true, counts });
    expect(await readAllLists(principal)).toEqual(catalogExample);
    expect(await service.catalogUpdatedEvents(locationId)).toEqual([{ locationId, etag: replaced.etag, counts }]);
  });

  it("is refused beyond the bytes of a day; the same catalogue again is not counted", async () => {
    const { principal } = catalogPrincipal();
    const catalog = createTestCatalog({ products: 50 });
    const bytes = Buffer.byteLength(JSON.stringify(catalog));
    const limited = await startTestCatalog({ CATALOG_BYTES_PER_DAY: String(bytes * 2) });
    for (let time = 0; time < 4; time += 1) await limited.replaceCatalog(principal, catalog);
    await limited.replaceCatalog(principal, createTestCatalog({ products: 10 }));
    const refusal = await limited.requestProblem("PUT", "/v1/catalog/", {
      principal,
      body: createTestCatalog({ products: 49 }),
    });
    expect(refusal).toMatchObject({ code: "quota_exceeded", limit: { name: "catalog_bytes", maximum: bytes * 2 } });
    await limited.replaceCatalog(catalogPrincipal().principal, catalog);
    await limited.remove();
  });

  it("takes the place of the whole one before", async () => {
    const { principal, locationId } = catalogPrincipal();
    await service.replaceCatalog(principal, createTestCatalog({ products: 50 }));
    const other: Catalog = { ...createTestCatalog({ products: 2, mark: "two" }), modifiers: [], payments: [] };
    expect(await service.replaceCatalog(principal, other)).toMatchObject({
      changed: true,
      counts: { products: 2, payments: 0, modifiers: 0 },
    });
    expect(await readAllLists(principal)).toEqual(other);
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(2);
  });

  it("can be nothing at all", async () => {
    const { principal } = catalogPrincipal();
    await service.replaceCatalog(principal, createTestCatalog());
    const empty = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };
    expect(await service.replaceCatalog(principal, empty)).toMatchObject({
      changed: true,
      counts: { products: 0, taxes: 0 },
    });
    expect(await readAllLists(principal)).toEqual(empty);
  });

  it("is another location's for a key that may act for any, if there is such a location", async () => {
    const operator = createTestPrincipal({ scopes: ["admin"], location: null });
    const { id } = service.accounts.addLocation();
    const response = await service.request("PUT", `${path}?locationId=${id}`, {
      principal: operator,
      body: createTestCatalog(),
    });
    expect([response.status, await response.json()]).toMatchObject([200, { locationId: id, changed: true }]);
    const unknown = `${path}?locationId=${crypto.randomUUID()}`;
    const refusal = await service.requestProblem("PUT", unknown, { principal: operator, body: createTestCatalog() });
    expect(refusal).toMatchObject({ status: 404, code: "location_not_found" });
    const unnamed = await service.requestProblem("PUT", path, { principal: operator, body: createTestCatalog() });
    expect(unnamed).toMatchObject({ status: 400, errors: [{ path: "locationId", code: "required" }] });
  });
});

describe("the same catalogue again", () => {
  it("changes nothing, announces nothing, and is answered with the same tag and time", async () => {
    const { principal, locationId } = catalogPrincipal();
    const first = await service.replaceCatalog(principal, createTestCatalog());
    expect(await service.replaceCatalog(principal, createTestCatalog())).toEqual({ ...first, changed: false });
    const reordered = Object.fromEntries(Object.entries(createTestCatalog()).reverse());
    expect(await service.replaceCatalog(principal, { ...reordered, note: "ignored" })).toEqual({
      ...first,
      changed: false,
    });
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(1);
  });

  it("is another one after another", async () => {
    const { principal, locationId } = catalogPrincipal();
    const first = await service.replaceCatalog(principal, createTestCatalog());
    await service.replaceCatalog(principal, createTestCatalog({ mark: "two" }));
    expect(await service.replaceCatalog(principal, createTestCatalog())).toMatchObject({
      changed: true,
      etag: first.etag,
    });
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(3);
  });

  it("leaves the tags of the lists that did not change", async () => {
    const { principal } = catalogPrincipal();
    await service.replaceCatalog(principal, createTestCatalog());
    const before = await Promise.all(catalogListNames.map((list) => findListEtag(principal, list)));
    await service.replaceCatalog(principal, { ...createTestCatalog(), payments: [] });
    const after = await Promise.all(catalogListNames.map((list) => findListEtag(principal, list)));
    // The tag of the products is the whole catalogue's.
    expect(catalogListNames.filter((_, index) => before[index] !== after[index])).toEqual(["products", "payments"]);
  });
});

describe("If-Match", () => {
  const put = (principal: CatalogPrincipal, mark: string, ifMatch: string) =>
    service.request("PUT", path, { principal, body: createTestCatalog({ mark }), headers: { "if-match": ifMatch } });

  it("lets the catalogue be replaced that was read", async () => {
    const { principal } = catalogPrincipal();
    const { etag } = await service.replaceCatalog(principal, createTestCatalog());
    expect(await findListEtag(principal, "products")).toBe(`"${etag}"`);
    expect((await put(principal, "two", `"${etag}"`)).status).toBe(200);
    expect((await put(principal, "three", "*")).status).toBe(200);
  });

  it("refuses to replace one that has changed since, in whichever list, and says which it is now", async () => {
    const { principal, locationId } = catalogPrincipal();
    const read = (await service.replaceCatalog(principal, createTestCatalog())).etag;
    const { etag } = await service.replaceCatalog(principal, { ...createTestCatalog(), payments: [] });
    const response = await put(principal, "two", `"${read}"`);
    expect([response.status, response.headers.get("etag")]).toEqual([412, `"${etag}"`]);
    expect(await response.json()).toMatchObject({ code: "precondition_failed" });
    expect(await service.readList(principal, "payments")).toEqual([]);
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(2);
  });

  it("does not stand in the way of the same request again, whose answer was lost", async () => {
    const { principal } = catalogPrincipal();
    const { etag } = await service.replaceCatalog(principal, createTestCatalog());
    const answers = [await put(principal, "two", `"${etag}"`), await put(principal, "two", `"${etag}"`)];
    expect(await Promise.all(answers.map((answer) => answer.json()))).toMatchObject([
      { changed: true },
      { changed: false },
    ]);
  });

  it("holds for the first catalogue of a location, which before is empty", async () => {
    const { principal, locationId } = catalogPrincipal();
    expect((await put(principal, "one", '"other"')).status).toBe(412);
    expect(await service.db.sql`select 1 from catalogs where location_id = ${locationId}`).toHaveLength(0);
    expect((await put(principal, "one", (await findListEtag(principal, "products")) ?? "")).status).toBe(200);
  });

  it("lets one of many win that read the same", async () => {
    const { principal, locationId } = catalogPrincipal();
    const { etag } = await service.replaceCatalog(principal, createTestCatalog());
    const marks = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(marks.map((mark) => put(principal, mark, `"${etag}"`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(2);
  });
});

describe("a catalogue with faults", () => {
  it("is refused with all of them, and changes nothing", async () => {
    const { principal, locationId } = catalogPrincipal();
    await service.replaceCatalog(principal, createTestCatalog());
    const [product] = createTestCatalog().products;
    const body = {
      ...createTestCatalog({ mark: "two" }),
      products: [product, { ...product, categoryId: "gone", name: null }],
      taxes: [{ id: "tax", name: "VAT", percentage: 1000 }],
    };
    const problem = await service.requestProblem("PUT", path, { principal, body });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "products[1].id duplicate",
      "products[1].name invalid_type",
      "products[0].priceList[1].taxRate unknown_reference",
      "products[1].categoryId unknown_reference",
      "products[1].priceList[1].taxRate unknown_reference",
    ]);
    expect(await readAllLists(principal)).toEqual(createTestCatalog());
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(1);
  });

  it("is refused for one list that is missing: nothing is taken for empty", async () => {
    const { principal } = catalogPrincipal();
    const { modifiers, ...body } = createTestCatalog();
    const problem = await service.requestProblem("PUT", path, { principal, body });
    expect(problem.errors).toMatchObject([{ path: "modifiers", code: "required" }]);
  });

  it.each([
    ["no JSON", "{", "malformed_json"],
    ["nothing", "", "malformed_json"],
    ["a list", "[]", "invalid_request"],
  ])("is refused for %s", async (_, body, code) => {
    expect(await service.requestProblem("PUT", path, { principal: catalogPrincipal().principal, body })).toMatchObject({
      code,
    });
  });

  it("is refused to a key without the scope, and to a key of another location", async () => {
    const reader = createTestPrincipal({ scopes: ["catalog:read"] });
    const body = createTestCatalog();
    expect(await service.requestProblem("PUT", path, { principal: reader, body })).toMatchObject({
      code: "scope_missing",
    });
    const { locationId } = catalogPrincipal();
    const other = { principal: catalogPrincipal().principal, body };
    expect(await service.requestProblem("PUT", `${path}?locationId=${locationId}`, other)).toMatchObject({
      code: "location_forbidden",
    });
  });
});

describe("catalogues that come at once", () => {
  it("each take the place of one before, whole: no reader sees two mixed in a list, and at the end all are of one", async () => {
    const { principal, locationId } = catalogPrincipal();
    const marks = Array.from({ length: 12 }, (_, index) => `mark-${index}`);
    await service.replaceCatalog(principal, createTestCatalog({ products: 60, mark: "before" }));
    const marksIn = (value: unknown) => new Set(JSON.stringify(value).match(/mark-\d+|before/g));
    let isOver = false;
    const reading = (async () => {
      const seen: number[] = [];
      while (!isOver) seen.push(marksIn(await service.readList(principal, "products")).size);
      return seen;
    })();
    await Promise.all(
      marks.map((mark, index) => service.replaceCatalog(principal, createTestCatalog({ products: 60 + index, mark }))),
    );
    isOver = true;
    expect(new Set(await reading)).toEqual(new Set([1]));
    const last = await readAllLists(principal);
    expect(marksIn(last).size).toBe(1);
    const [mark = ""] = marksIn(last);
    expect(last).toEqual(createTestCatalog({ products: 60 + marks.indexOf(mark), mark }));
    const announced = await service.catalogUpdatedEvents(locationId);
    expect(announced).toHaveLength(13);
    expect(`"${announced.at(-1)?.etag}"`).toBe(await findListEtag(principal, "products"));
  });

  it("are as good as one when they are the same, and the location had none", async () => {
    const { principal, locationId } = catalogPrincipal();
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => service.replaceCatalog(principal, createTestCatalog())),
    );
    expect(replies.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await service.catalogUpdatedEvents(locationId)).toHaveLength(1);
  });
});
