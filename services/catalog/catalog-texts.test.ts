import { catalogListNames } from "@pragma/contracts/catalog";
import { describe, expect, it } from "vitest";
import { emptyCatalog, writeCatalog } from "./catalog-texts.ts";
import { readCatalog } from "./read-catalog.ts";
import { makeCatalog } from "./testing/make-catalog.ts";

const read = (body: unknown, indent?: number) => {
  const texts = readCatalog(new TextEncoder().encode(JSON.stringify(body, undefined, indent)));
  if ("faults" in texts) throw new Error("It has faults.");
  return texts;
};
const reversed = (object: object) => Object.fromEntries(Object.entries(object).reverse());

describe("the entity tags of a catalogue", () => {
  it("are the same however its JSON is written", () => {
    const catalog = makeCatalog();
    const other = { ...reversed(catalog), products: catalog.products.map(reversed), extra: 1 };
    expect(read(other, 2)).toEqual(writeCatalog(catalog));
  });

  it("change with their list, and the catalogue's with any of them", () => {
    const one = read(makeCatalog());
    for (const list of catalogListNames) {
      const items = makeCatalog()[list];
      const [first, ...rest] = items as { name: string }[];
      const other = read({ ...makeCatalog(), [list]: [{ ...first, name: "another" }, ...rest] });
      expect(other.etag).not.toBe(one.etag);
      const changed = catalogListNames.filter((name) => other.lists[name].etag !== one.lists[name].etag);
      expect(changed).toEqual([list]);
    }
  });

  it("change with the order of items", () => {
    const { products, ...rest } = makeCatalog();
    expect(read({ ...rest, products: products.toReversed() }).etag).not.toBe(read(makeCatalog()).etag);
  });
});

describe("an empty catalogue", () => {
  it("has five empty lists", () => {
    expect(Object.values(emptyCatalog.lists).map(({ body }) => body)).toEqual(["[]", "[]", "[]", "[]", "[]"]);
    expect(emptyCatalog.counts).toEqual({ products: 0, payments: 0, taxes: 0, modifiers: 0, categories: 0 });
  });
});
