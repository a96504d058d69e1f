import { describe, expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeMenu, makeOrder, makeRow } from "../testing/make-till.ts";

function productsOf(...rows: Parameters<typeof makeRow>[0][]) {
  return compute([makeOrder({ productRowList: rows.map((row) => makeRow(row)) })]).reportV2.reportProducts;
}

test("sums what the point of sale declared for each product", () => {
  expect(
    productsOf({ quantity: 2, totalRow: 2199, taxableAmount: 2000 }, { quantity: 3, totalRow: 5, taxableAmount: 7 }),
  ).toEqual([
    {
      productCatalogId: "pizza",
      productName: "Pizza",
      category: "Cuisine",
      subCategory: "Pizze",
      inMenu: false,
      productQuantity: 5,
      productSales: 2204,
      excludingTax: 2007,
    },
  ]);
});

test.each([
  ["id", [{ productId: null }, { productId: "null" }, { productId: "" }]],
  ["name", [{ name: null }, { name: "null" }, { name: "" }]],
  ["category", [{ categoryName: null }, { categoryName: "null" }, { categoryName: "cuisine" }]],
  ["sub-category", [{ subCategoryName: null }, { subCategoryName: "null" }, { subCategoryName: "Pizze " }]],
])("products that differ in %s stay apart, and null is a value", (_, rows) => {
  expect(productsOf(...rows)).toHaveLength(3);
  expect(productsOf(rows[0], rows[0])).toHaveLength(1);
});

test("keys that only look alike when put together stay apart", () => {
  const products = productsOf({ name: 'A","B', categoryName: "C" }, { name: "A", categoryName: 'B","C' });
  expect(products).toHaveLength(2);
});

describe("the child of a split bill", () => {
  const child = { parentProductRowId: "parent", quantity: 1, totalRow: 550, taxableAmount: 500 };

  test("adds to sales and not to quantities", () => {
    expect(productsOf({ totalRow: 550, taxableAmount: 500 }, child)[0]).toMatchObject({
      productQuantity: 1,
      productSales: 1100,
      excludingTax: 1000,
    });
  });

  test("counts once when its parent does not count, because quantities are at least 1", () => {
    expect(productsOf({ isCanceled: true }, child, child)[0]).toMatchObject({ productQuantity: 1, productSales: 1100 });
  });

  test("of a child is no more than a child", () => {
    const grandchild = { ...child, parentProductRowId: "child" };
    expect(productsOf({}, child, grandchild)[0]).toMatchObject({ productQuantity: 1, productSales: 2200 });
  });
});

describe("quantities below 1", () => {
  test("become 1 where there is an amount", () => {
    expect(productsOf({ quantity: -2, totalRow: -2200, taxableAmount: -2000 })[0]).toMatchObject({
      productQuantity: 1,
      productSales: -2200,
      excludingTax: -2000,
    });
    expect(productsOf({ quantity: 0, totalRow: 0, taxableAmount: 1 })[0]).toMatchObject({ productQuantity: 1 });
  });

  test("leave out what was sold and refunded entirely", () => {
    const refund = { quantity: -1, totalRow: -1100, taxableAmount: -1000 };
    expect(productsOf({}, refund)).toEqual([]);
    expect(productsOf({}, refund, { ...refund, quantity: 1, totalRow: 0, taxableAmount: 0 })[0]).toMatchObject({
      productQuantity: 1,
      productSales: 0,
    });
  });

  test("subtract before they become 1", () => {
    expect(productsOf({ quantity: 5 }, { quantity: -2, totalRow: -500, taxableAmount: -455 })[0]).toMatchObject({
      productQuantity: 3,
      productSales: 600,
      excludingTax: 545,
    });
  });
});

test("a gift is a sale of nothing", () => {
  expect(productsOf({ totalRow: 0, taxableAmount: 0 })[0]).toMatchObject({ productQuantity: 1, productSales: 0 });
});

test("products in menus are apart in the report, and together with the others in its first shape", () => {
  const order = makeOrder({
    productRowList: [makeRow()],
    menuRowList: [makeMenu({ productRowList: [makeRow({ totalRow: 900, taxableAmount: 818 })] })],
  });
  const { reportV2, reportV0 } = compute([order]);
  expect(reportV2.reportProducts.map(({ inMenu, productSales }) => [inMenu, productSales])).toEqual([
    [false, 1100],
    [true, 900],
  ]);
  expect(reportV0.reportProducts).toEqual([
    {
      productCatalogId: "pizza",
      productName: "Pizza",
      category: "Cuisine",
      subCategory: "Pizze",
      productQuantity: 2,
      productSales: 2000,
    },
  ]);
});
