import { Catalog } from "@pragma/contracts/catalog";
import { catalogExample } from "@pragma/contracts/examples/catalog";
import { describe, expect, it } from "vitest";
import { buildTestCatalog } from "./testing/catalog-fixture.ts";
import { validateCatalog } from "./validate-catalog.ts";

/** Returns each issue of a body as a text that consists of its path and its code. */
function findIssues(body: unknown): string[] {
  const validated = validateCatalog(body);
  return "issues" in validated ? validated.issues.map(({ path, code }) => `${path} ${code}`) : [];
}

const [product] = buildTestCatalog().products;
const withProduct = (changes: object) => ({ ...buildTestCatalog(), products: [{ ...product, ...changes }] });

describe("a valid catalog", () => {
  it.each([
    ["of the documentation", catalogExample],
    ["of a few products", buildTestCatalog()],
    ["of nothing", { products: [], payments: [], taxes: [], modifiers: [], categories: [] }],
  ])("%s is returned as its schema parses it", (_, body) => {
    expect(validateCatalog(body)).toEqual({ catalog: Catalog.parse(body) });
  });

  it("is returned without unknown fields", () => {
    const { id, name, enabled } = { id: "1", name: "Cash", enabled: true };
    const validated = validateCatalog({
      ...buildTestCatalog(),
      payments: [{ enabled, colour: "red", id, name }],
      extra: [],
    });
    expect(validated).toEqual({ catalog: { ...buildTestCatalog(), payments: [{ id, name, enabled }] } });
  });

  it("has null for a missing sku", () => {
    const { sku, ...rest } = product ?? {};
    expect(validateCatalog({ ...buildTestCatalog(), products: [rest] })).toMatchObject({
      catalog: { products: [{ sku: null }] },
    });
  });
});

describe("references", () => {
  it("to an unknown category are issues", () => {
    expect(validateCatalog(withProduct({ categoryId: "elsewhere" }))).toMatchObject({
      count: 1,
      issues: [
        {
          in: "body",
          path: "products[0].categoryId",
          code: "unknown_reference",
          message: 'Must be the ID of one of the categories; got "elsewhere"',
        },
      ],
    });
  });

  it("to an unknown tax are issues, for each price", () => {
    const priceList = [1000, 1100, 0, 550, 700].map((taxRate, index) => ({
      priceTypeId: `price-${index}`,
      priceTypeName: "Normal",
      unitPrice: 100,
      taxRate,
    }));
    expect(findIssues(withProduct({ priceList }))).toEqual([
      "products[0].priceList[1].taxRate unknown_reference",
      "products[0].priceList[4].taxRate unknown_reference",
    ]);
  });

  it("of archived products are validated, too", () => {
    expect(findIssues(withProduct({ subCategories: [], categoryId: "gone" }))).toEqual([
      "products[0].categoryId unknown_reference",
    ]);
  });

  it("to sub-categories and price lists are not validated", () => {
    const subCategories = [{ name: "Anything", id: "unknown" }];
    expect(findIssues(withProduct({ subCategories }))).toEqual([]);
  });

  it("to a missing list are not reported one by one", () => {
    const { categories, ...rest } = buildTestCatalog();
    expect(findIssues(rest)).toEqual(["categories required"]);
  });
});

describe("ids", () => {
  it("that are duplicate are issues in every list, and inside an item", () => {
    const withDuplicate = <Item>(items: Item[]) => [...items, ...items.slice(0, 1)];
    const { products, payments, taxes, modifiers, categories } = buildTestCatalog();
    const invalidCatalog = {
      products: withDuplicate(products),
      payments: withDuplicate(payments),
      taxes: withDuplicate(taxes),
      modifiers: withDuplicate(
        modifiers.map((modifier) => ({ ...modifier, options: withDuplicate(modifier.options) })),
      ),
      categories: withDuplicate(categories),
    };
    expect(findIssues(invalidCatalog)).toEqual([
      "products[4].id duplicate",
      "payments[2].id duplicate",
      "taxes[3].id duplicate",
      "modifiers[1].id duplicate",
      "modifiers[0].options[1].id duplicate",
      "modifiers[1].options[1].id duplicate",
      "categories[3].id duplicate",
    ]);
    const { subCategories = [], priceList = [] } = product ?? {};
    expect(
      findIssues(withProduct({ subCategories: withDuplicate(subCategories), priceList: withDuplicate(priceList) })),
    ).toEqual(["products[0].subCategories[1].id duplicate", "products[0].priceList[2].priceTypeId duplicate"]);
  });

  it("may be the same in two lists", () => {
    const payments = [{ id: "tax-1000", name: "Cash", enabled: true }];
    expect(findIssues({ ...buildTestCatalog(), payments })).toEqual([]);
  });
});

describe("issues", () => {
  it("of every kind are found at once", () => {
    const catalog = buildTestCatalog();
    const invalidCatalog = {
      products: [
        { ...product, id: "", name: 7, categoryId: "gone" },
        { ...product, priceList: [{ ...product?.priceList[0], unitPrice: 9.5, taxRate: 10 }] },
      ],
      payments: [{ id: "1", name: "Cash" }],
      taxes: "none",
      modifiers: [{ id: "1", name: "Cooking", options: [{ id: "1", name: "Rare", price: "0" }] }],
      categories: [...catalog.categories, { id: "x", name: "X", index: -1 }],
    };
    expect(findIssues(invalidCatalog)).toEqual([
      "products[0].id too_small",
      "products[0].name invalid_type",
      "products[1].priceList[0].unitPrice invalid_type",
      "payments[0].enabled required",
      "taxes invalid_type",
      "modifiers[0].options[0].price invalid_type",
      "categories[3].index too_small",
      "products[0].categoryId unknown_reference",
    ]);
  });

  it.each([
    ["an array", [], " invalid_type"],
    ["null", null, " invalid_type"],
    ["an item that is not an object", { ...buildTestCatalog(), payments: [null] }, "payments[0] invalid_type"],
    ["too many taxes", { ...buildTestCatalog(), taxes: Array.from({ length: 1_001 }, () => ({})) }, "taxes too_big"],
    ["too many rows in one product", withProduct({ priceList: Array.from({ length: 1_001 }) }), "products[0] too_big"],
    ["too long a name", withProduct({ name: "x".repeat(1_025) }), "products[0].name too_big"],
  ])("are few for %s", (_, body, firstIssue) => {
    expect(findIssues(body)[0]).toBe(firstIssue);
  });

  it("are as many as the schema finds", () => {
    const { products, ...rest } = buildTestCatalog();
    const bodies = [
      rest,
      { ...rest, products: [...products, ...products] },
      { ...rest, products: [{ ...product, priceList: {} }] },
      { ...rest, products: [{ ...product, sku: 5 }], payments: [{ id: null, name: null, enabled: null }] },
    ];
    for (const body of bodies) {
      const issueCount = Catalog.safeParse(body).error?.issues.length;
      expect(validateCatalog(body)).toMatchObject({ count: issueCount });
    }
  });

  it("are counted only up to the number that a response can state", () => {
    const products = Array.from({ length: 20_000 }, () => ({}));
    const validated = validateCatalog({ ...buildTestCatalog(), products });
    expect("count" in validated && validated.count).toBeLessThan(11_000);
    expect("issues" in validated && validated.issues).toHaveLength(100);
  });
});
