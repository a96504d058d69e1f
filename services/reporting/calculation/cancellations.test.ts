import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderMenuRow, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

function computeCancellations(...orders: Parameters<typeof buildTestOrder>[0][]) {
  return computeTestTillReport(orders.map((order) => buildTestOrder(order))).reportV2.reportCancellations;
}

const canceled = { isCanceled: true, canceledReason: "Rupture" };

test("counts all rows of a canceled order under its reason, including lost and canceled rows and rows in menus", () => {
  const order = {
    isCanceled: true,
    canceledReason: "Client parti",
    productRowList: [
      buildTestOrderProductRow({ quantity: 2 }),
      buildTestOrderProductRow({ isLoss: true }),
      buildTestOrderProductRow(canceled),
    ],
    menuRowList: [buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow()] })],
  };
  expect(computeCancellations(order)).toEqual([
    { name: "Client parti", afterFinalization: false, quantity: 5, amount: 4400 },
  ]);
});

test("counts canceled rows of an order that is not canceled under their own reason, including lost rows", () => {
  const order = {
    canceledReason: "Not this one",
    productRowList: [
      buildTestOrderProductRow(canceled),
      buildTestOrderProductRow({ ...canceled, isLoss: true }),
      buildTestOrderProductRow(),
    ],
    menuRowList: [buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow(canceled)] })],
  };
  expect(computeCancellations(order)).toEqual([
    { name: "Rupture", afterFinalization: false, quantity: 3, amount: 3300 },
  ]);
});

test("counts the child of a split bill like any row", () => {
  const child = buildTestOrderProductRow({ ...canceled, parentProductRowId: "parent" });
  expect(computeCancellations({ productRowList: [buildTestOrderProductRow(canceled), child] })[0]).toMatchObject({
    quantity: 2,
    amount: 2200,
  });
});

test("does not count transferred rows or orders as canceled", () => {
  const row = buildTestOrderProductRow({ ...canceled, isTransferred: true });
  expect(computeCancellations({ productRowList: [row] })).toEqual([]);
  expect(computeCancellations({ isCanceled: true, productRowList: [row] })).toEqual([]);
  expect(computeCancellations({ isTransferred: true, productRowList: [buildTestOrderProductRow(canceled)] })).toEqual(
    [],
  );
  expect(
    computeCancellations({
      isTransferred: true,
      isCanceled: true,
      productRowList: [buildTestOrderProductRow(canceled)],
    }),
  ).toEqual([]);
});

test("groups missing and empty reasons under an empty name", () => {
  const rows = [
    buildTestOrderProductRow({ isCanceled: true, canceledReason: null }),
    buildTestOrderProductRow({ isCanceled: true, canceledReason: "" }),
  ];
  expect(computeCancellations({ productRowList: rows })).toEqual([
    { name: "", afterFinalization: false, quantity: 2, amount: 2200 },
  ]);
});

describe("afterFinalization", () => {
  const printed = "2026-05-29T12:30:00.000Z";
  test.each([
    ["later", "2026-05-29T12:30:00.001Z", true],
    ["later by less than a millisecond", "2026-05-29T12:30:00.0001Z", true],
    ["later, in another time zone", "2026-05-29T12:31:00+00:00", true],
    ["at the same moment", "2026-05-29T14:30:00+02:00", false],
    ["earlier, although the local time is later", "2026-05-29T14:00:00+02:00", false],
    ["at an unknown time", null, false],
  ])("compares the cancellation with the first bill: canceled %s", (_, time, afterFinalization) => {
    const row = {
      firstBillPrintDate: printed,
      productRowList: [buildTestOrderProductRow({ ...canceled, modifiedAt: time })],
    };
    const order = {
      ...row,
      isCanceled: true,
      canceledAt: time,
      productRowList: [buildTestOrderProductRow({ modifiedAt: null })],
    };
    expect(computeCancellations(row)[0]?.afterFinalization).toBe(afterFinalization);
    expect(computeCancellations(order)[0]?.afterFinalization).toBe(afterFinalization);
  });

  test("is false when no bill was printed", () => {
    const row = buildTestOrderProductRow({ ...canceled, modifiedAt: printed });
    expect(computeCancellations({ firstBillPrintDate: null, productRowList: [row] })[0]?.afterFinalization).toBe(false);
  });

  test("separates cancellations before and after the first bill", () => {
    const rows = [
      buildTestOrderProductRow({ ...canceled, modifiedAt: "2026-05-29T12:31:00.000Z" }),
      buildTestOrderProductRow({ ...canceled, modifiedAt: "2026-05-29T12:29:00.000Z" }),
    ];
    const cancellations = computeCancellations({ firstBillPrintDate: printed, productRowList: rows });
    expect(cancellations.map(({ afterFinalization }) => afterFinalization)).toEqual([true, false]);
  });
});

test("reports a canceled refund with quantity 1 and a negative amount", () => {
  const refund = buildTestOrderProductRow({ ...canceled, quantity: -1, totalRow: -1100 });
  expect(computeCancellations({ productRowList: [refund] })[0]).toMatchObject({ quantity: 1, amount: -1100 });
});

test("omits a canceled sale and refund that add up to 0", () => {
  const rows = [
    buildTestOrderProductRow(canceled),
    buildTestOrderProductRow({ ...canceled, quantity: -1, totalRow: -1100 }),
  ];
  expect(computeCancellations({ productRowList: rows })).toEqual([]);
});

test("lists a canceled gift with its quantity", () => {
  expect(
    computeCancellations({ productRowList: [buildTestOrderProductRow({ ...canceled, totalRow: 0 })] })[0],
  ).toMatchObject({
    quantity: 1,
    amount: 0,
  });
});
