import { type Catalog, type CatalogList, catalogListNames } from "@pragma/contracts/catalog";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { testPrincipal } from "@pragma/runtime/testing/test-service";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeCatalog } from "../testing/make-catalog.ts";
import { lists, shopPrincipal, startCatalog, type TestCatalog } from "../testing/start-catalog.ts";

let service: TestCatalog;

beforeAll(async () => {
  service = await startCatalog();
});
afterAll(() => service?.remove());

const path = "/v1/catalog/";
type Principal = ReturnType<typeof shopPrincipal>["principal"];

async function readAll(principal: Principal) {
  const entries = await Promise.all(
    catalogListNames.map(async (list) => [list, await service.read(principal, list)] as const),
  );
  return Object.fromEntries(entries);
}

async function tagOf(principal: Principal, list: CatalogList) {
  return (await service.ask("GET", lists[list].path, { principal })).headers.get("etag");
}

describe("a catalogue that is put", () => {
  it("is read back in five lists, and announced", async () => {
    const { principal, locationId } = shopPrincipal();
    const replaced = await service.put(principal, catalogExample);
    const counts = { products: 2, payments: 1, taxes: 1, modifiers: 1, categories: 1 };
    expect(replaced).toMatchObject({ locationId, changed: true, counts });
    expect(await readAll(principal)).toEqual(catalogExample);
    expect(await service.announced(locationId)).toEqual([{ locationId, etag: replaced.etag, counts }]);
  });

  it("is refused beyond the bytes of a day; the same catalogue again is not counted", async () => {
    const { principal } = shopPrincipal();
    const catalog = makeCatalog({ products: 50 });
    const bytes = Buffer.byteLength(JSON.stringify(catalog));
    const limited = await startCatalog({ CATALOG_BYTES_PER_DAY: String(bytes * 2) });
    for (let time = 0; time < 4; time += 1) await limited.put(principal, catalog);
    await limited.put(principal, makeCatalog({ products: 10 }));
    const refusal = await limited.refusal("PUT", "/v1/catalog/", { principal, body: makeCatalog({ products: 49 }) });
    expect(refusal).toMatchObject({ code: "quota_exceeded", limit: { name: "catalog_bytes", maximum: bytes * 2 } });
    await limited.put(shopPrincipal().principal, catalog);
    await limited.remove();
  });

  it("takes the place of the whole one before", async () => {
    const { principal, locationId } = shopPrincipal();
    await service.put(principal, makeCatalog({ products: 50 }));
    const other: Catalog = { ...makeCatalog({ products: 2, mark: "two" }), modifiers: [], payments: [] };
    expect(await service.put(principal, other)).toMatchObject({
      changed: true,
      counts: { products: 2, payments: 0, modifiers: 0 },
    });
    expect(await readAll(principal)).toEqual(other);
    expect(await service.announced(locationId)).toHaveLength(2);
  });

  it("can be nothing at all", async () => {
    const { principal } = shopPrincipal();
    await service.put(principal, makeCatalog());
    const empty = { products: [], payments: [], taxes: [], modifiers: [], categories: [] };
    expect(await service.put(principal, empty)).toMatchObject({ changed: true, counts: { products: 0, taxes: 0 } });
    expect(await readAll(principal)).toEqual(empty);
  });

  it("is another location's for a key that may act for any, if there is such a location", async () => {
    const operator = testPrincipal({ scopes: ["admin"], location: null });
    const { id } = service.accounts.know();
    const response = await service.ask("PUT", `${path}?locationId=${id}`, { principal: operator, body: makeCatalog() });
    expect([response.status, await response.json()]).toMatchObject([200, { locationId: id, changed: true }]);
    const unknown = `${path}?locationId=${crypto.randomUUID()}`;
    const refusal = await service.refusal("PUT", unknown, { principal: operator, body: makeCatalog() });
    expect(refusal).toMatchObject({ status: 404, code: "location_not_found" });
    const unnamed = await service.refusal("PUT", path, { principal: operator, body: makeCatalog() });
    expect(unnamed).toMatchObject({ status: 400, errors: [{ path: "locationId", code: "required" }] });
  });
});

describe("the same catalogue again", () => {
  it("changes nothing, announces nothing, and is answered with the same tag and time", async () => {
    const { principal, locationId } = shopPrincipal();
    const first = await service.put(principal, makeCatalog());
    expect(await service.put(principal, makeCatalog())).toEqual({ ...first, changed: false });
    const reordered = Object.fromEntries(Object.entries(makeCatalog()).reverse());
    expect(await service.put(principal, { ...reordered, note: "ignored" })).toEqual({ ...first, changed: false });
    expect(await service.announced(locationId)).toHaveLength(1);
  });

  it("is another one after another", async () => {
    const { principal, locationId } = shopPrincipal();
    const first = await service.put(principal, makeCatalog());
    await service.put(principal, makeCatalog({ mark: "two" }));
    expect(await service.put(principal, makeCatalog())).toMatchObject({ changed: true, etag: first.etag });
    expect(await service.announced(locationId)).toHaveLength(3);
  });

  it("leaves the tags of the lists that did not change", async () => {
    const { principal } = shopPrincipal();
    await service.put(principal, makeCatalog());
    const before = await Promise.all(catalogListNames.map((list) => tagOf(principal, list)));
    await service.put(principal, { ...makeCatalog(), payments: [] });
    const after = await Promise.all(catalogListNames.map((list) => tagOf(principal, list)));
    // The tag of the products is the whole catalogue's.
    expect(catalogListNames.filter((_, index) => before[index] !== after[index])).toEqual(["products", "payments"]);
  });
});

describe("If-Match", () => {
  const put = (principal: Principal, mark: string, ifMatch: string) =>
    service.ask("PUT", path, { principal, body: makeCatalog({ mark }), headers: { "if-match": ifMatch } });

  it("lets the catalogue be replaced that was read", async () => {
    const { principal } = shopPrincipal();
    const { etag } = await service.put(principal, makeCatalog());
    expect(await tagOf(principal, "products")).toBe(`"${etag}"`);
    expect((await put(principal, "two", `"${etag}"`)).status).toBe(200);
    expect((await put(principal, "three", "*")).status).toBe(200);
  });

  it("refuses to replace one that has changed since, in whichever list, and says which it is now", async () => {
    const { principal, locationId } = shopPrincipal();
    const read = (await service.put(principal, makeCatalog())).etag;
    const { etag } = await service.put(principal, { ...makeCatalog(), payments: [] });
    const response = await put(principal, "two", `"${read}"`);
    expect([response.status, response.headers.get("etag")]).toEqual([412, `"${etag}"`]);
    expect(await response.json()).toMatchObject({ code: "precondition_failed" });
    expect(await service.read(principal, "payments")).toEqual([]);
    expect(await service.announced(locationId)).toHaveLength(2);
  });

  it("does not stand in the way of the same request again, whose answer was lost", async () => {
    const { principal } = shopPrincipal();
    const { etag } = await service.put(principal, makeCatalog());
    const answers = [await put(principal, "two", `"${etag}"`), await put(principal, "two", `"${etag}"`)];
    expect(await Promise.all(answers.map((answer) => answer.json()))).toMatchObject([
      { changed: true },
      { changed: false },
    ]);
  });

  it("holds for the first catalogue of a location, which before is empty", async () => {
    const { principal, locationId } = shopPrincipal();
    expect((await put(principal, "one", '"other"')).status).toBe(412);
    expect(await service.db.sql`select 1 from catalogs where location_id = ${locationId}`).toHaveLength(0);
    expect((await put(principal, "one", (await tagOf(principal, "products")) ?? "")).status).toBe(200);
  });

  it("lets one of many win that read the same", async () => {
    const { principal, locationId } = shopPrincipal();
    const { etag } = await service.put(principal, makeCatalog());
    const marks = ["a", "b", "c", "d", "e", "f"];
    const answers = await Promise.all(marks.map((mark) => put(principal, mark, `"${etag}"`)));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 412, 412, 412, 412, 412]);
    expect(await service.announced(locationId)).toHaveLength(2);
  });
});

describe("a catalogue with faults", () => {
  it("is refused with all of them, and changes nothing", async () => {
    const { principal, locationId } = shopPrincipal();
    await service.put(principal, makeCatalog());
    const [product] = makeCatalog().products;
    const body = {
      ...makeCatalog({ mark: "two" }),
      products: [product, { ...product, categoryId: "gone", name: null }],
      taxes: [{ id: "tax", name: "VAT", percentage: 1000 }],
    };
    const problem = await service.refusal("PUT", path, { principal, body });
    expect(problem).toMatchObject({ status: 400, code: "invalid_request" });
    expect(problem.errors?.map(({ path, code }) => `${path} ${code}`)).toEqual([
      "products[1].id duplicate",
      "products[1].name invalid_type",
      "products[0].priceList[1].taxRate unknown_reference",
      "products[1].categoryId unknown_reference",
      "products[1].priceList[1].taxRate unknown_reference",
    ]);
    expect(await readAll(principal)).toEqual(makeCatalog());
    expect(await service.announced(locationId)).toHaveLength(1);
  });

  it("is refused for one list that is missing: nothing is taken for empty", async () => {
    const { principal } = shopPrincipal();
    const { modifiers, ...body } = makeCatalog();
    const problem = await service.refusal("PUT", path, { principal, body });
    expect(problem.errors).toMatchObject([{ path: "modifiers", code: "required" }]);
  });

  it.each([
    ["no JSON", "{", "malformed_json"],
    ["nothing", "", "malformed_json"],
    ["a list", "[]", "invalid_request"],
  ])("is refused for %s", async (_, body, code) => {
    expect(await service.refusal("PUT", path, { principal: shopPrincipal().principal, body })).toMatchObject({ code });
  });

  it("is refused to a key without the scope, and to a key of another location", async () => {
    const reader = testPrincipal({ scopes: ["catalog:read"] });
    const body = makeCatalog();
    expect(await service.refusal("PUT", path, { principal: reader, body })).toMatchObject({ code: "scope_missing" });
    const { locationId } = shopPrincipal();
    const other = { principal: shopPrincipal().principal, body };
    expect(await service.refusal("PUT", `${path}?locationId=${locationId}`, other)).toMatchObject({
      code: "location_forbidden",
    });
  });
});

describe("catalogues that come at once", () => {
  it("each take the place of one before, whole: no reader sees two mixed in a list, and at the end all are of one", async () => {
    const { principal, locationId } = shopPrincipal();
    const marks = Array.from({ length: 12 }, (_, index) => `mark-${index}`);
    await service.put(principal, makeCatalog({ products: 60, mark: "before" }));
    const marksIn = (value: unknown) => new Set(JSON.stringify(value).match(/mark-\d+|before/g));
    let isOver = false;
    const reading = (async () => {
      const seen: number[] = [];
      while (!isOver) seen.push(marksIn(await service.read(principal, "products")).size);
      return seen;
    })();
    await Promise.all(marks.map((mark, index) => service.put(principal, makeCatalog({ products: 60 + index, mark }))));
    isOver = true;
    expect(new Set(await reading)).toEqual(new Set([1]));
    const last = await readAll(principal);
    expect(marksIn(last).size).toBe(1);
    const [mark = ""] = marksIn(last);
    expect(last).toEqual(makeCatalog({ products: 60 + marks.indexOf(mark), mark }));
    const announced = await service.announced(locationId);
    expect(announced).toHaveLength(13);
    expect(`"${announced.at(-1)?.etag}"`).toBe(await tagOf(principal, "products"));
  });

  it("are as good as one when they are the same, and the location had none", async () => {
    const { principal, locationId } = shopPrincipal();
    const replies = await Promise.all(Array.from({ length: 8 }, () => service.put(principal, makeCatalog())));
    expect(replies.filter(({ changed }) => changed)).toHaveLength(1);
    expect(await service.announced(locationId)).toHaveLength(1);
  });
});
