import { expect, test } from "vitest";
import { computeTestReport } from "../testing/compute-test-report.ts";
import { createTestMenuRow, createTestOrder, createTestProductRow } from "../testing/till-fixtures.ts";

function computeTransfers(...orders: Parameters<typeof createTestOrder>[0][]) {
  return computeTestReport(orders.map((order) => createTestOrder(order))).reportV2.reportTransferred;
}

const transferredFields = { isTransferred: true, transferredTo: "Table 12" };

test("a transferred order takes all its rows that are not canceled to where it went", () => {
  const order = {
    isTransferred: true,
    transferredTo: "Mews",
    productRowList: [
      createTestProductRow({ quantity: 2 }),
      createTestProductRow({ isLoss: true }),
      createTestProductRow({ isCanceled: true }),
      createTestProductRow(transferredFields),
    ],
    menuRowList: [createTestMenuRow({ productRowList: [createTestProductRow()] })],
  };
  expect(computeTransfers(order)).toEqual([{ name: "Mews", quantity: 5, amount: 4400 }]);
});

test("an order that stays loses its transferred rows to where they went", () => {
  const order = {
    transferredTo: "Not there",
    productRowList: [
      createTestProductRow(),
      createTestProductRow(transferredFields),
      createTestProductRow({ ...transferredFields, isCanceled: true }),
    ],
    menuRowList: [createTestMenuRow({ productRowList: [createTestProductRow(transferredFields)] })],
  };
  expect(computeTransfers(order)).toEqual([{ name: "Table 12", quantity: 2, amount: 2200 }]);
});

test("what was canceled was not transferred", () => {
  expect(computeTransfers({ isCanceled: true, productRowList: [createTestProductRow(transferredFields)] })).toEqual([]);
  expect(computeTransfers({ isCanceled: true, isTransferred: true, productRowList: [createTestProductRow()] })).toEqual(
    [],
  );
});

test("the child of a split bill counts like any row", () => {
  const child = createTestProductRow({ ...transferredFields, parentProductRowId: "parent" });
  expect(computeTransfers({ productRowList: [child, createTestProductRow(transferredFields)] })[0]).toMatchObject({
    quantity: 2,
    amount: 2200,
  });
});

test("no destination is an empty name", () => {
  const rows = [
    createTestProductRow({ isTransferred: true }),
    createTestProductRow({ isTransferred: true, transferredTo: "" }),
  ];
  expect(computeTransfers({ productRowList: rows })).toEqual([{ name: "", quantity: 2, amount: 2200 }]);
});

test("what comes to nothing is left out, and a refund is written as one", () => {
  const refund = createTestProductRow({ ...transferredFields, quantity: -1, totalRow: -1100 });
  expect(computeTransfers({ productRowList: [createTestProductRow(transferredFields), refund] })).toEqual([]);
  expect(computeTransfers({ productRowList: [refund] })[0]).toMatchObject({ quantity: 1, amount: -1100 });
});
