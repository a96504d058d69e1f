import { describe, expect, test } from "vitest";
import { computeTestReport } from "../testing/compute-test-report.ts";
import { createTestDiscountRow, createTestOrder, createTestProductRow } from "../testing/till-fixtures.ts";

function computeDiscounts(...rows: Parameters<typeof createTestProductRow>[0][]) {
  const order = createTestOrder({ productRowList: rows.map((row) => createTestProductRow(row)) });
  return computeTestReport([order]).reportV2.reportDiscounts;
}

test("sums the discounts on what was sold, with the VAT in them by tax", () => {
  const twenty = { taxName: "TVA 20%", taxRate: 20 };
  expect(
    computeDiscounts(
      { discountRowList: [createTestDiscountRow({ amount: 110 })] },
      { ...twenty, discountRowList: [createTestDiscountRow({ amount: 100 })] },
      { discountRowList: [createTestDiscountRow({ amount: 11 })] },
    ),
  ).toEqual([
    {
      discountName: "Personnel",
      discountCatalogId: "staff",
      gifted: false,
      quantity: 3,
      discountValue: 221,
      vatAmount: 28,
      taxRepartition: [
        { taxName: "TVA 10%", taxRate: 1000, quantity: 2, discountValue: 121, taxableAmount: 110, taxAmount: 11 },
        { taxName: "TVA 20%", taxRate: 2000, quantity: 1, discountValue: 100, taxableAmount: 83, taxAmount: 17 },
      ],
    },
  ]);
});

test("rounds each row's VAT by itself, half away from zero, also when it is negative", () => {
  const half = {
    taxRate: 100,
    discountRowList: [createTestDiscountRow({ amount: 21 }), createTestDiscountRow({ amount: 21 })],
  };
  expect(computeDiscounts(half)[0]).toMatchObject({ discountValue: 42, vatAmount: 20 });
  const refund = { taxRate: 100, discountRowList: [createTestDiscountRow({ amount: -21 })] };
  expect(computeDiscounts(refund)[0]).toMatchObject({ discountValue: -21, vatAmount: -10 });
});

test("a gift is apart from a discount of the same name", () => {
  const gift = { totalRow: 0, discountRowList: [createTestDiscountRow()] };
  const gifted = computeDiscounts({ discountRowList: [createTestDiscountRow()] }, gift, gift);
  expect(gifted.map((discount) => [discount.gifted, discount.quantity])).toEqual([
    [false, 1],
    [true, 2],
  ]);
});

describe("how often a discount was given", () => {
  test("is once for all products that share its group, and once for each row without one", () => {
    const [discount] = computeDiscounts(
      { discountRowList: [createTestDiscountRow({ discountGroupId: "a" })] },
      {
        discountRowList: [
          createTestDiscountRow({ discountGroupId: "a" }),
          createTestDiscountRow({ discountGroupId: "b" }),
        ],
      },
      {
        discountRowList: [
          createTestDiscountRow({ discountGroupId: null }),
          createTestDiscountRow({ discountGroupId: null }),
        ],
      },
    );
    expect(discount).toMatchObject({ quantity: 4, discountValue: 550 });
    expect(discount?.taxRepartition[0]?.quantity).toBe(5);
  });

  test("is counted for each group of the report by itself", () => {
    const shared = [
      createTestDiscountRow({ discountGroupId: "a" }),
      createTestDiscountRow({ discountGroupId: "a", discountId: "other" }),
    ];
    const discounts = computeDiscounts({ discountRowList: shared });
    expect(discounts.map((discount) => discount.quantity)).toEqual([1, 1]);
  });

  test("counts the child of a split bill", () => {
    const [discount] = computeDiscounts({ parentProductRowId: "parent", discountRowList: [createTestDiscountRow()] });
    expect(discount).toMatchObject({ quantity: 1, discountValue: 110 });
  });
});

test.each(["pending", "cancelled"] as const)("a %s discount does not count", (status) => {
  const { reportV2, reportV0, orders } = computeTestReport([
    createTestOrder({
      productRowList: [createTestProductRow({ discountRowList: [createTestDiscountRow({ status })] })],
    }),
  ]);
  expect(reportV2.reportDiscounts).toEqual([]);
  expect(reportV0.reportDiscounts).toEqual([]);
  expect(orders[0]?.v1.items[0]?.discountsApplied).toEqual([]);
});

test("a discount on a lost product does not count", () => {
  expect(computeDiscounts({ isLoss: true, discountRowList: [createTestDiscountRow()] })).toEqual([]);
});

test("names and ids that are null are values of their own", () => {
  const rows = [
    createTestDiscountRow({ name: null }),
    createTestDiscountRow({ discountId: null }),
    createTestDiscountRow({ name: "null" }),
  ];
  expect(computeDiscounts({ discountRowList: rows })).toHaveLength(3);
});

test("the first shape has gifts and others together", () => {
  const { reportV0 } = computeTestReport([
    createTestOrder({
      productRowList: [
        createTestProductRow({ discountRowList: [createTestDiscountRow()] }),
        createTestProductRow({ totalRow: 0, discountRowList: [createTestDiscountRow({ amount: 1000 })] }),
      ],
    }),
  ]);
  expect(reportV0.reportDiscounts).toEqual([
    { discountName: "Personnel", discountValue: 1110, discountCatalogId: "staff" },
  ]);
});
