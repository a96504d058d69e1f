import { describe, expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeDiscount, makeOrder, makeRow } from "../testing/make-till.ts";

function discountsOf(...rows: Parameters<typeof makeRow>[0][]) {
  const order = makeOrder({ productRowList: rows.map((row) => makeRow(row)) });
  return compute([order]).reportV2.reportDiscounts;
}

test("sums the discounts on what was sold, with the VAT in them by tax", () => {
  const twenty = { taxName: "TVA 20%", taxRate: 20 };
  expect(
    discountsOf(
      { discountRowList: [makeDiscount({ amount: 110 })] },
      { ...twenty, discountRowList: [makeDiscount({ amount: 100 })] },
      { discountRowList: [makeDiscount({ amount: 11 })] },
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
  const half = { taxRate: 100, discountRowList: [makeDiscount({ amount: 21 }), makeDiscount({ amount: 21 })] };
  expect(discountsOf(half)[0]).toMatchObject({ discountValue: 42, vatAmount: 20 });
  const refund = { taxRate: 100, discountRowList: [makeDiscount({ amount: -21 })] };
  expect(discountsOf(refund)[0]).toMatchObject({ discountValue: -21, vatAmount: -10 });
});

test("a gift is apart from a discount of the same name", () => {
  const gift = { totalRow: 0, discountRowList: [makeDiscount()] };
  const gifted = discountsOf({ discountRowList: [makeDiscount()] }, gift, gift);
  expect(gifted.map((discount) => [discount.gifted, discount.quantity])).toEqual([
    [false, 1],
    [true, 2],
  ]);
});

describe("how often a discount was given", () => {
  test("is once for all products that share its group, and once for each row without one", () => {
    const [discount] = discountsOf(
      { discountRowList: [makeDiscount({ discountGroupId: "a" })] },
      { discountRowList: [makeDiscount({ discountGroupId: "a" }), makeDiscount({ discountGroupId: "b" })] },
      { discountRowList: [makeDiscount({ discountGroupId: null }), makeDiscount({ discountGroupId: null })] },
    );
    expect(discount).toMatchObject({ quantity: 4, discountValue: 550 });
    expect(discount?.taxRepartition[0]?.quantity).toBe(5);
  });

  test("is counted for each group of the report by itself", () => {
    const shared = [
      makeDiscount({ discountGroupId: "a" }),
      makeDiscount({ discountGroupId: "a", discountId: "other" }),
    ];
    const discounts = discountsOf({ discountRowList: shared });
    expect(discounts.map((discount) => discount.quantity)).toEqual([1, 1]);
  });

  test("counts the child of a split bill", () => {
    const [discount] = discountsOf({ parentProductRowId: "parent", discountRowList: [makeDiscount()] });
    expect(discount).toMatchObject({ quantity: 1, discountValue: 110 });
  });
});

test.each(["pending", "cancelled"] as const)("a %s discount does not count", (status) => {
  const { reportV2, reportV0, orders } = compute([
    makeOrder({ productRowList: [makeRow({ discountRowList: [makeDiscount({ status })] })] }),
  ]);
  expect(reportV2.reportDiscounts).toEqual([]);
  expect(reportV0.reportDiscounts).toEqual([]);
  expect(orders[0]?.v1.items[0]?.discountsApplied).toEqual([]);
});

test("a discount on a lost product does not count", () => {
  expect(discountsOf({ isLoss: true, discountRowList: [makeDiscount()] })).toEqual([]);
});

test("names and ids that are null are values of their own", () => {
  const rows = [makeDiscount({ name: null }), makeDiscount({ discountId: null }), makeDiscount({ name: "null" })];
  expect(discountsOf({ discountRowList: rows })).toHaveLength(3);
});

test("the first shape has gifts and others together", () => {
  const { reportV0 } = compute([
    makeOrder({
      productRowList: [
        makeRow({ discountRowList: [makeDiscount()] }),
        makeRow({ totalRow: 0, discountRowList: [makeDiscount({ amount: 1000 })] }),
      ],
    }),
  ]);
  expect(reportV0.reportDiscounts).toEqual([
    { discountName: "Personnel", discountValue: 1110, discountCatalogId: "staff" },
  ]);
});
