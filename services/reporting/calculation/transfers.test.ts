import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderMenuRow, buildTestOrderProductRow } from "../testing/till-fixtures.ts";

function computeTransfers(...orders: Parameters<typeof buildTestOrder>[0][]) {
  return computeTestTillReport(orders.map((order) => buildTestOrder(order))).reportV2.reportTransferred;
}

const transferredFields = { isTransferred: true, transferredTo: "Table 12" };

test("counts all rows of a transferred order that are not canceled", () => {
  const order = {
    isTransferred: true,
    transferredTo: "Mews",
    productRowList: [
      buildTestOrderProductRow({ quantity: 2 }),
      buildTestOrderProductRow({ isLoss: true }),
      buildTestOrderProductRow({ isCanceled: true }),
      buildTestOrderProductRow(transferredFields),
    ],
    menuRowList: [buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow()] })],
  };
  expect(computeTransfers(order)).toEqual([{ name: "Mews", quantity: 5, amount: 4400 }]);
});

test("counts transferred rows of other orders under their own destination", () => {
  const order = {
    transferredTo: "Unused",
    productRowList: [
      buildTestOrderProductRow(),
      buildTestOrderProductRow(transferredFields),
      buildTestOrderProductRow({ ...transferredFields, isCanceled: true }),
    ],
    menuRowList: [buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow(transferredFields)] })],
  };
  expect(computeTransfers(order)).toEqual([{ name: "Table 12", quantity: 2, amount: 2200 }]);
});

test("does not count canceled rows or orders as transferred", () => {
  expect(computeTransfers({ isCanceled: true, productRowList: [buildTestOrderProductRow(transferredFields)] })).toEqual(
    [],
  );
  expect(
    computeTransfers({ isCanceled: true, isTransferred: true, productRowList: [buildTestOrderProductRow()] }),
  ).toEqual([]);
});

test("counts the child of a split bill like any row", () => {
  const child = buildTestOrderProductRow({ ...transferredFields, parentProductRowId: "parent" });
  expect(computeTransfers({ productRowList: [child, buildTestOrderProductRow(transferredFields)] })[0]).toMatchObject({
    quantity: 2,
    amount: 2200,
  });
});

test("groups missing and empty destinations under an empty name", () => {
  const rows = [
    buildTestOrderProductRow({ isTransferred: true }),
    buildTestOrderProductRow({ isTransferred: true, transferredTo: "" }),
  ];
  expect(computeTransfers({ productRowList: rows })).toEqual([{ name: "", quantity: 2, amount: 2200 }]);
});

test("omits transfers that add up to 0, and reports a refund with quantity 1", () => {
  const refund = buildTestOrderProductRow({ ...transferredFields, quantity: -1, totalRow: -1100 });
  expect(computeTransfers({ productRowList: [buildTestOrderProductRow(transferredFields), refund] })).toEqual([]);
  expect(computeTransfers({ productRowList: [refund] })[0]).toMatchObject({ quantity: 1, amount: -1100 });
});
