import { describe, expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeMenu, makeOrder, makeRow } from "../testing/make-till.ts";

function cancellationsOf(...orders: Parameters<typeof makeOrder>[0][]) {
  return compute(orders.map((order) => makeOrder(order))).reportV2.reportCancellations;
}

const canceled = { isCanceled: true, canceledReason: "Rupture" };

test("a canceled order cancels all its rows under its own reason: lost, canceled and in menus too", () => {
  const order = {
    isCanceled: true,
    canceledReason: "Client parti",
    productRowList: [makeRow({ quantity: 2 }), makeRow({ isLoss: true }), makeRow(canceled)],
    menuRowList: [makeMenu({ productRowList: [makeRow()] })],
  };
  expect(cancellationsOf(order)).toEqual([
    { name: "Client parti", afterFinalization: false, quantity: 5, amount: 4400 },
  ]);
});

test("an order that stands cancels its canceled rows under theirs, lost ones too", () => {
  const order = {
    canceledReason: "Not this one",
    productRowList: [makeRow(canceled), makeRow({ ...canceled, isLoss: true }), makeRow()],
    menuRowList: [makeMenu({ productRowList: [makeRow(canceled)] })],
  };
  expect(cancellationsOf(order)).toEqual([{ name: "Rupture", afterFinalization: false, quantity: 3, amount: 3300 }]);
});

test("the child of a split bill counts like any row", () => {
  const child = makeRow({ ...canceled, parentProductRowId: "parent" });
  expect(cancellationsOf({ productRowList: [makeRow(canceled), child] })[0]).toMatchObject({
    quantity: 2,
    amount: 2200,
  });
});

test("what was transferred is not canceled: a row, or an order with all its rows", () => {
  const row = makeRow({ ...canceled, isTransferred: true });
  expect(cancellationsOf({ productRowList: [row] })).toEqual([]);
  expect(cancellationsOf({ isCanceled: true, productRowList: [row] })).toEqual([]);
  expect(cancellationsOf({ isTransferred: true, productRowList: [makeRow(canceled)] })).toEqual([]);
  expect(cancellationsOf({ isTransferred: true, isCanceled: true, productRowList: [makeRow(canceled)] })).toEqual([]);
});

test("no reason is an empty name, the same as an empty reason", () => {
  const rows = [makeRow({ isCanceled: true, canceledReason: null }), makeRow({ isCanceled: true, canceledReason: "" })];
  expect(cancellationsOf({ productRowList: rows })).toEqual([
    { name: "", afterFinalization: false, quantity: 2, amount: 2200 },
  ]);
});

describe("after finalization", () => {
  const printed = "2026-05-29T12:30:00.000Z";
  test.each([
    ["later", "2026-05-29T12:30:00.001Z", true],
    ["later by less than a millisecond", "2026-05-29T12:30:00.0001Z", true],
    ["later, in another time zone", "2026-05-29T12:31:00+00:00", true],
    ["at the same moment", "2026-05-29T14:30:00+02:00", false],
    ["earlier, though its clock shows a later hour", "2026-05-29T14:00:00+02:00", false],
    ["at an unknown time", null, false],
  ])("a row and an order canceled %s than the first bill", (_, time, afterFinalization) => {
    const row = { firstBillPrintDate: printed, productRowList: [makeRow({ ...canceled, modifiedAt: time })] };
    const order = { ...row, isCanceled: true, canceledAt: time, productRowList: [makeRow({ modifiedAt: null })] };
    expect(cancellationsOf(row)[0]?.afterFinalization).toBe(afterFinalization);
    expect(cancellationsOf(order)[0]?.afterFinalization).toBe(afterFinalization);
  });

  test("nothing is when no bill was printed", () => {
    const row = makeRow({ ...canceled, modifiedAt: printed });
    expect(cancellationsOf({ firstBillPrintDate: null, productRowList: [row] })[0]?.afterFinalization).toBe(false);
  });

  test("is apart from before", () => {
    const rows = [
      makeRow({ ...canceled, modifiedAt: "2026-05-29T12:31:00.000Z" }),
      makeRow({ ...canceled, modifiedAt: "2026-05-29T12:29:00.000Z" }),
    ];
    const cancellations = cancellationsOf({ firstBillPrintDate: printed, productRowList: rows });
    expect(cancellations.map(({ afterFinalization }) => afterFinalization)).toEqual([true, false]);
  });
});

test("a canceled refund is written as one", () => {
  const refund = makeRow({ ...canceled, quantity: -1, totalRow: -1100 });
  expect(cancellationsOf({ productRowList: [refund] })[0]).toMatchObject({ quantity: 1, amount: -1100 });
});

test("a canceled sale and refund that come to nothing are left out", () => {
  const rows = [makeRow(canceled), makeRow({ ...canceled, quantity: -1, totalRow: -1100 })];
  expect(cancellationsOf({ productRowList: rows })).toEqual([]);
});

test("a canceled gift is listed with its quantity", () => {
  expect(cancellationsOf({ productRowList: [makeRow({ ...canceled, totalRow: 0 })] })[0]).toMatchObject({
    quantity: 1,
    amount: 0,
  });
});
