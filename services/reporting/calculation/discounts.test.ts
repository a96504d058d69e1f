import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderDiscountRow, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

function computeDiscounts(...rows: Parameters<typeof buildTestOrderProductRow>[0][]) {
  const order = buildTestOrder({ productRowList: rows.map((row) => buildTestOrderProductRow(row)) });
  return computeTestTillReport([order]).reportV2.reportDiscounts;
}

test("sums discounts on sales, with their VAT by tax", () => {
  const twenty = { taxName: "TVA 20%", taxRate: 20 };
  expect(
    computeDiscounts(
      { discountRowList: [buildTestOrderDiscountRow({ amount: 110 })] },
      { ...twenty, discountRowList: [buildTestOrderDiscountRow({ amount: 100 })] },
      { discountRowList: [buildTestOrderDiscountRow({ amount: 11 })] },
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
    discountRowList: [buildTestOrderDiscountRow({ amount: 21 }), buildTestOrderDiscountRow({ amount: 21 })],
  };
  expect(computeDiscounts(half)[0]).toMatchObject({ discountValue: 42, vatAmount: 20 });
  const refund = { taxRate: 100, discountRowList: [buildTestOrderDiscountRow({ amount: -21 })] };
  expect(computeDiscounts(refund)[0]).toMatchObject({ discountValue: -21, vatAmount: -10 });
});

test("separates gifts from discounts of the same name", () => {
  const gift = { totalRow: 0, discountRowList: [buildTestOrderDiscountRow()] };
  const discounts = computeDiscounts({ discountRowList: [buildTestOrderDiscountRow()] }, gift, gift);
  expect(discounts.map((discount) => [discount.gifted, discount.quantity])).toEqual([
    [false, 1],
    [true, 2],
  ]);
});

describe("the quantity of a discount", () => {
  test("is 1 for each discount group, and 1 for each row without a group", () => {
    const [discount] = computeDiscounts(
      { discountRowList: [buildTestOrderDiscountRow({ discountGroupId: "a" })] },
      {
        discountRowList: [
          buildTestOrderDiscountRow({ discountGroupId: "a" }),
          buildTestOrderDiscountRow({ discountGroupId: "b" }),
        ],
      },
      {
        discountRowList: [
          buildTestOrderDiscountRow({ discountGroupId: null }),
          buildTestOrderDiscountRow({ discountGroupId: null }),
        ],
      },
    );
    expect(discount).toMatchObject({ quantity: 4, discountValue: 550 });
    expect(discount?.taxRepartition[0]?.quantity).toBe(5);
  });

  test("counts a discount group separately in each line of the report", () => {
    const shared = [
      buildTestOrderDiscountRow({ discountGroupId: "a" }),
      buildTestOrderDiscountRow({ discountGroupId: "a", discountId: "other" }),
    ];
    const discounts = computeDiscounts({ discountRowList: shared });
    expect(discounts.map((discount) => discount.quantity)).toEqual([1, 1]);
  });

  test("includes the child of a split bill", () => {
    const [discount] = computeDiscounts({
      parentProductRowId: "parent",
      discountRowList: [buildTestOrderDiscountRow()],
    });
    expect(discount).toMatchObject({ quantity: 1, discountValue: 110 });
  });
});

test.each(["pending", "cancelled"] as const)("ignores a %s discount", (status) => {
  const { reportV2, reportV0, orders } = computeTestTillReport([
    buildTestOrder({
      productRowList: [buildTestOrderProductRow({ discountRowList: [buildTestOrderDiscountRow({ status })] })],
    }),
  ]);
  expect(reportV2.reportDiscounts).toEqual([]);
  expect(reportV0.reportDiscounts).toEqual([]);
  expect(orders[0]?.v1.items[0]?.discountsApplied).toEqual([]);
});

test("ignores a discount on a lost product", () => {
  expect(computeDiscounts({ isLoss: true, discountRowList: [buildTestOrderDiscountRow()] })).toEqual([]);
});

test("treats null as a distinct name and id", () => {
  const rows = [
    buildTestOrderDiscountRow({ name: null }),
    buildTestOrderDiscountRow({ discountId: null }),
    buildTestOrderDiscountRow({ name: "null" }),
  ];
  expect(computeDiscounts({ discountRowList: rows })).toHaveLength(3);
});

test("combines gifts and other discounts in V0 reports", () => {
  const { reportV0 } = computeTestTillReport([
    buildTestOrder({
      productRowList: [
        buildTestOrderProductRow({ discountRowList: [buildTestOrderDiscountRow()] }),
        buildTestOrderProductRow({ totalRow: 0, discountRowList: [buildTestOrderDiscountRow({ amount: 1000 })] }),
      ],
    }),
  ]);
  expect(reportV0.reportDiscounts).toEqual([
    { discountName: "Personnel", discountValue: 1110, discountCatalogId: "staff" },
  ]);
});
