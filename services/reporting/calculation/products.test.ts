import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderMenuRow, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

function computeProducts(...rows: Parameters<typeof buildTestOrderProductRow>[0][]) {
  return computeTestTillReport([buildTestOrder({ productRowList: rows.map((row) => buildTestOrderProductRow(row)) })])
    .reportV2.reportProducts;
}

test("sums the declared amounts of each product", () => {
  expect(
    computeProducts(
      { quantity: 2, totalRow: 2199, taxableAmount: 2000 },
      { quantity: 3, totalRow: 5, taxableAmount: 7 },
    ),
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
])("separates products that differ in %s, and treats null as a value", (_, rows) => {
  expect(computeProducts(...rows)).toHaveLength(3);
  expect(computeProducts(rows[0], rows[0])).toHaveLength(1);
});

test("separates products whose concatenated keys are equal", () => {
  const products = computeProducts({ name: 'A","B', categoryName: "C" }, { name: "A", categoryName: 'B","C' });
  expect(products).toHaveLength(2);
});

describe("the child of a split bill", () => {
  const child = { parentProductRowId: "parent", quantity: 1, totalRow: 550, taxableAmount: 500 };

  test("adds to sales but not to quantities", () => {
    expect(computeProducts({ totalRow: 550, taxableAmount: 500 }, child)[0]).toMatchObject({
      productQuantity: 1,
      productSales: 1100,
      excludingTax: 1000,
    });
  });

  test("has quantity 1 if its parent does not count, because quantities are at least 1", () => {
    expect(computeProducts({ isCanceled: true }, child, child)[0]).toMatchObject({
      productQuantity: 1,
      productSales: 1100,
    });
  });

  test("can be the child of another child", () => {
    const grandchild = { ...child, parentProductRowId: "child" };
    expect(computeProducts({}, child, grandchild)[0]).toMatchObject({ productQuantity: 1, productSales: 2200 });
  });
});

describe("product quantities below 1", () => {
  test("become 1 if there is an amount", () => {
    expect(computeProducts({ quantity: -2, totalRow: -2200, taxableAmount: -2000 })[0]).toMatchObject({
      productQuantity: 1,
      productSales: -2200,
      excludingTax: -2000,
    });
    expect(computeProducts({ quantity: 0, totalRow: 0, taxableAmount: 1 })[0]).toMatchObject({ productQuantity: 1 });
  });

  test("omit products that were sold and fully refunded", () => {
    const refund = { quantity: -1, totalRow: -1100, taxableAmount: -1000 };
    expect(computeProducts({}, refund)).toEqual([]);
    expect(computeProducts({}, refund, { ...refund, quantity: 1, totalRow: 0, taxableAmount: 0 })[0]).toMatchObject({
      productQuantity: 1,
      productSales: 0,
    });
  });

  test("are subtracted from other quantities first", () => {
    expect(computeProducts({ quantity: 5 }, { quantity: -2, totalRow: -500, taxableAmount: -455 })[0]).toMatchObject({
      productQuantity: 3,
      productSales: 600,
      excludingTax: 545,
    });
  });
});

test("counts a gift as a sale of 0", () => {
  expect(computeProducts({ totalRow: 0, taxableAmount: 0 })[0]).toMatchObject({ productQuantity: 1, productSales: 0 });
});

test("separates products in menus in V2 reports, and combines them with other products in V0 reports", () => {
  const order = buildTestOrder({
    productRowList: [buildTestOrderProductRow()],
    menuRowList: [
      buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow({ totalRow: 900, taxableAmount: 818 })] }),
    ],
  });
  const { reportV2, reportV0 } = computeTestTillReport([order]);
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
