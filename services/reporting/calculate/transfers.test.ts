import { expect, test } from "vitest";
import { compute } from "../testing/compute.ts";
import { makeMenu, makeOrder, makeRow } from "../testing/make-till.ts";

function transfersOf(...orders: Parameters<typeof makeOrder>[0][]) {
  return compute(orders.map((order) => makeOrder(order))).reportV2.reportTransferred;
}

const moved = { isTransferred: true, transferredTo: "Table 12" };

test("a transferred order takes all its rows that are not canceled to where it went", () => {
  const order = {
    isTransferred: true,
    transferredTo: "Mews",
    productRowList: [
      makeRow({ quantity: 2 }),
      makeRow({ isLoss: true }),
      makeRow({ isCanceled: true }),
      makeRow(moved),
    ],
    menuRowList: [makeMenu({ productRowList: [makeRow()] })],
  };
  expect(transfersOf(order)).toEqual([{ name: "Mews", quantity: 5, amount: 4400 }]);
});

test("an order that stays loses its transferred rows to where they went", () => {
  const order = {
    transferredTo: "Not there",
    productRowList: [makeRow(), makeRow(moved), makeRow({ ...moved, isCanceled: true })],
    menuRowList: [makeMenu({ productRowList: [makeRow(moved)] })],
  };
  expect(transfersOf(order)).toEqual([{ name: "Table 12", quantity: 2, amount: 2200 }]);
});

test("what was canceled was not transferred", () => {
  expect(transfersOf({ isCanceled: true, productRowList: [makeRow(moved)] })).toEqual([]);
  expect(transfersOf({ isCanceled: true, isTransferred: true, productRowList: [makeRow()] })).toEqual([]);
});

test("the child of a split bill counts like any row", () => {
  const child = makeRow({ ...moved, parentProductRowId: "parent" });
  expect(transfersOf({ productRowList: [child, makeRow(moved)] })[0]).toMatchObject({ quantity: 2, amount: 2200 });
});

test("no destination is an empty name", () => {
  const rows = [makeRow({ isTransferred: true }), makeRow({ isTransferred: true, transferredTo: "" })];
  expect(transfersOf({ productRowList: rows })).toEqual([{ name: "", quantity: 2, amount: 2200 }]);
});

test("what comes to nothing is left out, and a refund is written as one", () => {
  const refund = makeRow({ ...moved, quantity: -1, totalRow: -1100 });
  expect(transfersOf({ productRowList: [makeRow(moved), refund] })).toEqual([]);
  expect(transfersOf({ productRowList: [refund] })[0]).toMatchObject({ quantity: 1, amount: -1100 });
});
