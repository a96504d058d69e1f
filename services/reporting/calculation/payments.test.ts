import { expect, test } from "vitest";
import { computeTestTillReport } from "../testing/compute-test-report.ts";
import { buildTestOrder, buildTestOrderPaymentRow } from "../testing/till-fixtures.ts";

function computeRecordedPayments(...payments: Parameters<typeof buildTestOrderPaymentRow>[0][]) {
  const paymentRowList = payments.map((payment) => buildTestOrderPaymentRow(payment));
  return computeTestTillReport([buildTestOrder({ paymentRowList })]).reportV2.reportRecordedPayments;
}

test("sums payments, change and tips by name, mode and type", () => {
  const cash = { name: "Espèces", paymentMode: "cash", changeAmount: 140 } as const;
  expect(computeRecordedPayments(cash, { tipAmount: 200 }, { ...cash, tipAmount: null }, {})).toEqual([
    {
      name: "Espèces",
      paymentMode: "cash",
      paymentType: "payment",
      quantity: 2,
      totalAmount: 2200,
      changeAmount: 280,
      tipsAmount: 0,
    },
    {
      name: "Carte bancaire",
      paymentMode: "card",
      paymentType: "payment",
      quantity: 2,
      totalAmount: 2200,
      changeAmount: 0,
      tipsAmount: 200,
    },
  ]);
});

test("separates payments that differ in name, mode or type only", () => {
  const groups = computeRecordedPayments(
    {},
    { name: null },
    { name: "null" },
    { paymentMode: "cash" },
    { paymentType: "tip" },
    { paymentId: "other" },
  );
  expect(groups.map(({ quantity }) => quantity)).toEqual([2, 1, 1, 1, 1]);
});

test("ignores payments that are not validated", () => {
  expect(computeRecordedPayments({ status: "pending" }, { status: "cancelled" })).toEqual([]);
});

test("lists a payment of 0, and a refund with a negative amount", () => {
  expect(computeRecordedPayments({ amount: 0 })[0]).toMatchObject({ quantity: 1, totalAmount: 0 });
  expect(computeRecordedPayments({ amount: -500 })[0]).toMatchObject({ quantity: 1, totalAmount: -500 });
});

test.each([{ isCanceled: true }, { isTransferred: true }])("counts the payment of an order with %o", (state) => {
  const { reportV2, orders } = computeTestTillReport([
    buildTestOrder({ ...state, paymentRowList: [buildTestOrderPaymentRow()] }),
  ]);
  expect(reportV2.reportRecordedPayments[0]).toMatchObject({ quantity: 1, totalAmount: 1100 });
  expect(orders[0]?.v1.payments).toHaveLength(1);
});

test("sums declared payments by name, mode and catalog id, even if the sum is 0", () => {
  const cash = { paymentName: "Espèces", paymentMode: "cash", paymentId: "cash", quantity: 3 } as const;
  const { reportV2, reportV0 } = computeTestTillReport([], {
    declaredPaymentList: [
      { ...cash, paymentAmount: 1000 },
      { ...cash, paymentAmount: 0, paymentId: null },
      { ...cash, paymentAmount: -250 },
      { ...cash, paymentAmount: 5, paymentMode: "card" },
    ],
  });
  expect(reportV2.reportPayments).toEqual([
    { paymentName: "Espèces", paymentMode: "cash", paymentCatalogId: "cash", paymentAmount: 750 },
    { paymentName: "Espèces", paymentMode: "cash", paymentCatalogId: null, paymentAmount: 0 },
    { paymentName: "Espèces", paymentMode: "card", paymentCatalogId: "cash", paymentAmount: 5 },
  ]);
  expect(reportV0.reportPayments).toEqual([
    { paymentName: "Espèces", paymentCatalogId: "cash", paymentAmount: 750 },
    { paymentName: "Espèces", paymentCatalogId: null, paymentAmount: 0 },
    { paymentName: "Espèces", paymentCatalogId: "cash", paymentAmount: 5 },
  ]);
});

test("lists each cash movement, even if two are equal", () => {
  const movement = {
    id: "m",
    amount: -2350,
    name: "Achat pain",
    type: "cash-out",
    recordedAt: "2026-05-29T11:00:00+02:00",
  } as const;
  const { reportV2, reportV0 } = computeTestTillReport([], { financialMovementList: [movement, movement] });
  expect(reportV2.reportEntries).toHaveLength(2);
  expect(reportV2.reportEntries[0]).toEqual({
    entryCatalogId: "m",
    entryAmount: -2350,
    entryName: "Achat pain",
    entryType: "cash-out",
    recordedAt: "2026-05-29T09:00:00.000Z",
    deviceIdentifier: null,
    deviceName: null,
    operatorId: null,
    operatorName: null,
    currencyCode: null,
    paymentMode: null,
    paymentId: null,
    paymentName: null,
    customerId: null,
    customerName: null,
  });
  expect(reportV0.reportEntries[0]).toEqual({
    entryCatalogId: "m",
    entryAmount: -2350,
    entryName: "Achat pain",
    entryType: "cash-out",
  });
});
