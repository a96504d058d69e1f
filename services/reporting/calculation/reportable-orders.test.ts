import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import {
  buildTestOrder,
  buildTestOrderMenuRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
} from "../testing/till-fixtures.ts";

const saleFields = { total: 1100, totalWithoutTax: 1000, totalTax: 100, guestsCount: 2, roomName: "Salle" };

describe("an order in training mode", () => {
  const training = buildTestOrder({
    ...saleFields,
    isTraining: true,
    isCanceled: true,
    productRowList: [buildTestOrderProductRow()],
    paymentRowList: [buildTestOrderPaymentRow()],
    operatorId: "alice",
  });
  const { reportV2, reportV0, orders } = computeTestTillReport([training], {
    clerkShiftList: [{ id: "alice", clockInDate: null, clockOutDate: null }],
  });

  test("is omitted from all figures and lists", () => {
    expect(reportV2).toMatchObject({ totalSales: 0, guestsNumber: 0, orderCount: 0 });
    for (const [name, value] of Object.entries(reportV2)) {
      if (Array.isArray(value) && name !== "reportClerksShift") expect(value, name).toEqual([]);
    }
    expect(reportV2.reportClerksShift[0]).toMatchObject({ cancellations: 0, paymentsOwner: 0, paymentsOperator: 0 });
    expect(reportV0.orders).toEqual([]);
    expect(orders).toEqual([]);
  });
});

test.each([
  ["canceled", { isCanceled: true }],
  ["transferred", { isTransferred: true }],
  ["canceled and transferred", { isCanceled: true, isTransferred: true }],
])("lists an order that was %s, but does not count it as a sale", (_, state) => {
  const order = buildTestOrder({ ...saleFields, ...state, productRowList: [buildTestOrderProductRow()] });
  const { reportV2, reportV0, orders } = computeTestTillReport([order]);
  expect(reportV2).toMatchObject({
    totalSales: 0,
    guestsNumber: 0,
    orderCount: 0,
    reportProducts: [],
    reportRooms: [],
  });
  expect(reportV2.orders.map(({ id }) => id)).toEqual([order.id]);
  expect(reportV0.orders).toEqual([order.id]);
  expect(orders.map(({ id }) => id)).toEqual([order.id]);
});

test("uses the declared total of an order as the sale, even if its rows differ", () => {
  const { reportV2 } = computeTestTillReport([
    buildTestOrder({
      ...saleFields,
      total: 999,
      productRowList: [buildTestOrderProductRow(), buildTestOrderProductRow()],
    }),
  ]);
  expect(reportV2.totalSales).toBe(999);
});

test.each([
  ["canceled", { isCanceled: true }],
  ["transferred", { isTransferred: true }],
  ["lost", { isLoss: true }],
])("does not count a row that was %s as a sale", (_, state) => {
  const { reportV2 } = computeTestTillReport([buildTestOrder({ productRowList: [buildTestOrderProductRow(state)] })]);
  expect(reportV2).toMatchObject({ reportProducts: [], reportTaxes: [], reportModifiers: [], reportDiscounts: [] });
});

test("does not count a menu without products, or with canceled and lost products only, as a sale", () => {
  const menu = buildTestOrderMenuRow({
    productRowList: [buildTestOrderProductRow({ isCanceled: true }), buildTestOrderProductRow({ isLoss: true })],
  });
  expect(
    computeTestTillReport([buildTestOrder({ menuRowList: [menu, buildTestOrderMenuRow()] })]).reportV2.reportMenus,
  ).toEqual([]);
});

test("lists products of each order outside menus before products in menus", () => {
  const first = buildTestOrder({
    menuRowList: [buildTestOrderMenuRow({ productRowList: [buildTestOrderProductRow({ name: "B" })] })],
    productRowList: [buildTestOrderProductRow({ name: "A" })],
  });
  const second = buildTestOrder({
    productRowList: [buildTestOrderProductRow({ name: "C" }), buildTestOrderProductRow({ name: "A" })],
  });
  const names = computeTestTillReport([first, second]).reportV2.reportProducts.map((product) => product.productName);
  expect(names).toEqual(["A", "B", "C"]);
});
