import type { TillV2Input } from "@pragma/contracts/till-v2";
import { describe, expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import {
  buildTestOrder,
  buildTestOrderDiscountRow,
  buildTestOrderPaymentRow,
  buildTestOrderProductRow,
} from "../testing/till-fixtures.ts";

const day = "2026-05-29";
const morning = { id: "alice", name: "Alice", clockInDate: `${day}T08:00:00Z`, clockOutDate: `${day}T15:00:00Z` };
const evening = { ...morning, clockInDate: `${day}T15:00:00Z`, clockOutDate: `${day}T23:00:00Z` };
const bruno = { ...morning, id: "bruno", name: "Bruno" };

function computeShifts(
  clerkShiftList: TillV2Input["clerkShiftList"],
  ...orders: Parameters<typeof buildTestOrder>[0][]
) {
  return computeTestTillReport(
    orders.map((order) => buildTestOrder(order)),
    { clerkShiftList },
  ).reportV2.reportClerksShift;
}

const emptyFigures = {
  orderCount: 0,
  guestCount: 0,
  totalDiscount: 0,
  quantityDiscounted: 0,
  cancellations: 0,
  paymentsOwner: 0,
  paymentsOperator: 0,
  losses: 0,
};

test("lists every shift in the till's order, including shifts without orders", () => {
  expect(computeShifts([evening, morning, evening])).toEqual([
    {
      id: "alice",
      name: "Alice",
      clockInDate: `${day}T15:00:00.000Z`,
      clockOutDate: `${day}T23:00:00.000Z`,
      ...emptyFigures,
    },
    {
      id: "alice",
      name: "Alice",
      clockInDate: `${day}T08:00:00.000Z`,
      clockOutDate: `${day}T15:00:00.000Z`,
      ...emptyFigures,
    },
    {
      id: "alice",
      name: "Alice",
      clockInDate: `${day}T15:00:00.000Z`,
      clockOutDate: `${day}T23:00:00.000Z`,
      ...emptyFigures,
    },
  ]);
});

describe("the shift of an order", () => {
  function countOrdersByShift(
    time: string,
    shifts: TillV2Input["clerkShiftList"],
    operatorId: string | null = "alice",
  ) {
    return computeShifts(shifts, { operatorId, openedAt: time }).map((shift) => shift.orderCount);
  }

  test.each([
    ["opened at the start of the shift", `${day}T15:00:00Z`, [0, 1]],
    ["opened just before the end of the shift", `${day}T14:59:59.999Z`, [1, 0]],
    ["opened in another time zone", `${day}T16:59:00+02:00`, [1, 0]],
    ["or else the first: opened before all shifts", `${day}T07:00:00Z`, [1, 0]],
    ["or else the first: opened after all shifts", `${day}T23:00:00Z`, [1, 0]],
  ])("is the clerk's shift that contains the opening time, %s", (_, time, counts) => {
    expect(countOrdersByShift(time, [morning, evening])).toEqual(counts);
  });

  test("is the first matching shift in the till's order", () => {
    const wholeDay = { ...morning, clockOutDate: null };
    expect(countOrdersByShift(`${day}T16:00:00Z`, [morning, evening, wholeDay])).toEqual([0, 1, 0]);
    expect(countOrdersByShift(`${day}T16:00:00Z`, [morning, wholeDay, evening])).toEqual([0, 1, 0]);
  });

  test("is the first shift in the till's order, not by time, when none matches", () => {
    expect(countOrdersByShift(`${day}T07:00:00Z`, [evening, morning])).toEqual([1, 0]);
  });

  test("can be a shift without an end or without a start", () => {
    const open = { ...evening, clockOutDate: null };
    expect(countOrdersByShift("2026-06-30T00:00:00Z", [morning, open])).toEqual([0, 1]);
    expect(countOrdersByShift("2026-01-01T00:00:00Z", [evening, { ...morning, clockInDate: null }])).toEqual([0, 1]);
  });

  test("does not exist when the order has no clerk, or the clerk has no shift", () => {
    expect(countOrdersByShift(`${day}T12:00:00Z`, [morning], "zoe")).toEqual([0]);
    expect(countOrdersByShift(`${day}T12:00:00Z`, [morning], null)).toEqual([0]);
  });

  test("is only one of two equal shifts", () => {
    expect(countOrdersByShift(`${day}T12:00:00Z`, [morning, morning])).toEqual([1, 0]);
  });
});

test("counts sales, their guests and their validated discounts", () => {
  const discounted = buildTestOrderProductRow({
    discountRowList: [
      buildTestOrderDiscountRow({ discountGroupId: "a" }),
      buildTestOrderDiscountRow({ discountGroupId: "a" }),
    ],
  });
  const pending = buildTestOrderProductRow({ discountRowList: [buildTestOrderDiscountRow({ status: "pending" })] });
  const lost = buildTestOrderProductRow({ isLoss: true, discountRowList: [buildTestOrderDiscountRow()] });
  const alice = { operatorId: "alice", guestsCount: 2, productRowList: [discounted, pending, lost] };
  expect(
    computeShifts([morning], alice, { ...alice, isCanceled: true }, { ...alice, isTransferred: true })[0],
  ).toMatchObject({
    orderCount: 1,
    guestCount: 2,
    totalDiscount: 220,
    quantityDiscounted: 2,
  });
});

test("sums cancellations as in the report, by the shift of the order", () => {
  const rows = [buildTestOrderProductRow({ isCanceled: true, operatorId: "bruno" }), buildTestOrderProductRow()];
  const alice = { operatorId: "alice", productRowList: rows };
  const shifts = computeShifts(
    [morning, bruno],
    alice,
    { ...alice, isCanceled: true },
    { ...alice, isTransferred: true },
  );
  expect(shifts.map(({ cancellations }) => cancellations)).toEqual([3300, 0]);
});

test("sums losses in sales", () => {
  const productRowList = [
    buildTestOrderProductRow({ isLoss: true }),
    buildTestOrderProductRow({ isLoss: true, isCanceled: true }),
    buildTestOrderProductRow({ isLoss: true, isTransferred: true }),
    buildTestOrderProductRow(),
  ];
  const menuRowList = [
    { id: "m", totalRow: 0, productRowList: [buildTestOrderProductRow({ isLoss: true, totalRow: 700 })] },
  ];
  const alice = { operatorId: "alice", productRowList, menuRowList };
  expect(computeShifts([morning], alice, { ...alice, isCanceled: true })[0]?.losses).toBe(1800);
});

describe("payments of a shift", () => {
  const payment = buildTestOrderPaymentRow({ operatorId: "bruno", recordedAt: `${day}T12:30:00Z` });

  test("count for the clerk of the order as owner, and for the clerk of the payment as operator", () => {
    const shifts = computeShifts([morning, bruno], { operatorId: "alice", paymentRowList: [payment] });
    expect(shifts.map(({ paymentsOwner, paymentsOperator }) => [paymentsOwner, paymentsOperator])).toEqual([
      [1100, 0],
      [0, 1100],
    ]);
  });

  test("count for the operator's shift at the time of the payment", () => {
    const late = buildTestOrderPaymentRow({ operatorId: "alice", recordedAt: `${day}T15:00:00Z` });
    const order = { operatorId: "alice", openedAt: `${day}T14:00:00Z`, paymentRowList: [late] };
    const shifts = computeShifts([morning, evening], order);
    expect(shifts.map(({ paymentsOwner, paymentsOperator }) => [paymentsOwner, paymentsOperator])).toEqual([
      [1100, 0],
      [0, 1100],
    ]);
  });

  test.each([{ isCanceled: true }, { isTransferred: true }])("count when the order is %o", (state) => {
    const [shift] = computeShifts([morning], { ...state, operatorId: "alice", paymentRowList: [payment] });
    expect(shift?.paymentsOwner).toBe(1100);
  });

  test("count if validated and of type payment, without tips", () => {
    const paymentRowList = [
      buildTestOrderPaymentRow({ operatorId: "alice", tipAmount: 50 }),
      buildTestOrderPaymentRow({ operatorId: "alice", status: "pending" }),
      buildTestOrderPaymentRow({ operatorId: "alice", paymentType: "tip" }),
      buildTestOrderPaymentRow({ operatorId: "alice", paymentType: "customerAccount" }),
    ];
    expect(computeShifts([morning], { operatorId: "alice", paymentRowList })[0]).toMatchObject({
      paymentsOwner: 1100,
      paymentsOperator: 1100,
    });
  });

  test("count for the operator when the order has no clerk", () => {
    const [shift] = computeShifts([bruno], { operatorId: null, paymentRowList: [payment] });
    expect(shift).toMatchObject({ paymentsOwner: 0, paymentsOperator: 1100, orderCount: 0 });
  });
});

test("V0 reports have the clerk and the times of each shift", () => {
  const { reportV0 } = computeTestTillReport([], { clerkShiftList: [morning] });
  expect(reportV0.reportClerksShift).toEqual([
    { id: "alice", name: "Alice", clockInDate: `${day}T08:00:00.000Z`, clockOutDate: `${day}T15:00:00.000Z` },
  ]);
});
