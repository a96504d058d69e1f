import { catalogItemListNames } from "@pragma/contracts/catalog";
import { describe, expect, it } from "vitest";
import { parseAndSerializeCatalogBody } from "./parse-catalog-body.ts";
import { emptySerializedCatalog, serializeCatalogLists } from "./serialize-catalog.ts";
import { buildTestCatalog } from "./testing/catalog-fixture.ts";

const parseCatalog = (body: unknown, indent?: number) => {
  const parsed = parseAndSerializeCatalogBody(new TextEncoder().encode(JSON.stringify(body, undefined, indent)));
  if ("issues" in parsed) throw new Error("The catalog has issues");
  return parsed;
};
const reversed = (object: object) => Object.fromEntries(Object.entries(object).reverse());

describe("the entity tags of a catalog", () => {
  it("do not depend on the formatting and field order of its JSON", () => {
    const catalog = buildTestCatalog();
    const other = { ...reversed(catalog), products: catalog.products.map(reversed), extra: 1 };
    expect(parseCatalog(other, 2)).toEqual(serializeCatalogLists(catalog));
  });

  it("change when their list changes, and the tag of the catalog changes when any list changes", () => {
    const one = parseCatalog(buildTestCatalog());
    for (const list of catalogItemListNames) {
      const items = buildTestCatalog()[list];
      const [first, ...rest] = items as { name: string }[];
      const other = parseCatalog({ ...buildTestCatalog(), [list]: [{ ...first, name: "another" }, ...rest] });
      expect(other.etag).not.toBe(one.etag);
      const changed = catalogItemListNames.filter((name) => other.lists[name].etag !== one.lists[name].etag);
      expect(changed).toEqual([list]);
    }
  });

  it("change when the sequence of items changes", () => {
    const { products, ...rest } = buildTestCatalog();
    expect(parseCatalog({ ...rest, products: products.toReversed() }).etag).not.toBe(
      parseCatalog(buildTestCatalog()).etag,
    );
  });
});

describe("an empty catalog", () => {
  it("has five empty lists", () => {
    expect(Object.values(emptySerializedCatalog.lists).map(({ body }) => body)).toEqual(["[]", "[]", "[]", "[]", "[]"]);
    expect(emptySerializedCatalog.counts).toEqual({ products: 0, payments: 0, taxes: 0, modifiers: 0, categories: 0 });
  });
});
