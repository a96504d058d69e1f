import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { createTestDiscountRow, createTestOrder, createTestProductRow } from "../testing/till-fixtures.ts";

function computeDiscounts(...rows: Parameters<typeof createTestProductRow>[0][]) {
  const order = createTestOrder({ productRowList: rows.map((row) => createTestProductRow(row)) });
  return computeTestTillReport([order]).reportV2.reportDiscounts;
}

test("sums discounts on sales, with their VAT by tax", () => {
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

test("rounds the VAT of each discount separately, half away from zero", () => {
  const half = {
    taxRate: 100,
    discountRowList: [createTestDiscountRow({ amount: 21 }), createTestDiscountRow({ amount: 21 })],
  };
  expect(computeDiscounts(half)[0]).toMatchObject({ discountValue: 42, vatAmount: 20 });
  const refund = { taxRate: 100, discountRowList: [createTestDiscountRow({ amount: -21 })] };
  expect(computeDiscounts(refund)[0]).toMatchObject({ discountValue: -21, vatAmount: -10 });
});

test("separates gifts from discounts of the same name", () => {
  const gift = { totalRow: 0, discountRowList: [createTestDiscountRow()] };
  const discounts = computeDiscounts({ discountRowList: [createTestDiscountRow()] }, gift, gift);
  expect(discounts.map((discount) => [discount.gifted, discount.quantity])).toEqual([
    [false, 1],
    [true, 2],
  ]);
});

describe("the quantity of a discount", () => {
  test("is 1 for each discount group, and 1 for each row without a group", () => {
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

  test("counts a discount group separately in each line of the report", () => {
    const shared = [
      createTestDiscountRow({ discountGroupId: "a" }),
      createTestDiscountRow({ discountGroupId: "a", discountId: "other" }),
    ];
    const discounts = computeDiscounts({ discountRowList: shared });
    expect(discounts.map((discount) => discount.quantity)).toEqual([1, 1]);
  });

  test("includes the child of a split bill", () => {
    const [discount] = computeDiscounts({ parentProductRowId: "parent", discountRowList: [createTestDiscountRow()] });
    expect(discount).toMatchObject({ quantity: 1, discountValue: 110 });
  });
});

test.each(["pending", "cancelled"] as const)("ignores a %s discount", (status) => {
  const { reportV2, reportV0, orders } = computeTestTillReport([
    createTestOrder({
      productRowList: [createTestProductRow({ discountRowList: [createTestDiscountRow({ status })] })],
    }),
  ]);
  expect(reportV2.reportDiscounts).toEqual([]);
  expect(reportV0.reportDiscounts).toEqual([]);
  expect(orders[0]?.v1.items[0]?.discountsApplied).toEqual([]);
});

test("ignores a discount on a lost product", () => {
  expect(computeDiscounts({ isLoss: true, discountRowList: [createTestDiscountRow()] })).toEqual([]);
});

test("treats null as a distinct name and id", () => {
  const rows = [
    createTestDiscountRow({ name: null }),
    createTestDiscountRow({ discountId: null }),
    createTestDiscountRow({ name: "null" }),
  ];
  expect(computeDiscounts({ discountRowList: rows })).toHaveLength(3);
});

test("combines gifts and other discounts in V0 reports", () => {
  const { reportV0 } = computeTestTillReport([
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
