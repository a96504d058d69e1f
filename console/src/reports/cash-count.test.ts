import { describe, expect, it } from "vitest";
import { countCash } from "./cash-count.ts";

type Report = Parameters<typeof countCash>[0];
type Day = NonNullable<Parameters<typeof countCash>[1]>;

const payment = (paymentType: string, amounts: object, paymentMode = "cash") => ({
  ...{ paymentMode, paymentType, totalAmount: 0, tipsAmount: 0 },
  ...amounts,
});

const report = {
  id: "r1",
  tillId: "t1",
  initialCashBalance: 27_500,
  finalCashBalance: 90_478,
  reportRecordedPayments: [
    payment("payment", { totalAmount: 60_000, tipsAmount: 100 }),
    payment("tip", { totalAmount: 200 }),
    payment("change", { totalAmount: 50, tipsAmount: 50 }),
    payment("payment", { totalAmount: 99_999, tipsAmount: 999 }, "card"),
  ],
  reportEntries: [
    { paymentMode: null, entryAmount: 5_000 },
    { paymentMode: "cash", entryAmount: -1_995 },
    { paymentMode: "card", entryAmount: 700 },
  ],
} as unknown as Report;

const dayWith = (check: object) =>
  ({
    tills: [{ tillId: "t1", reportId: "r1" }],
    reconciliation: [{ code: "cash", status: "failed", findingCount: 0, findings: [], uncheckedTillIds: [], ...check }],
  }) as unknown as Day;

const counted = { payments: 60_000, tips: 300, movements: 3_005 };

describe("the cash of a report", () => {
  it("adds up to the expected cash of the day's check", () => {
    const day = dayWith({ findingCount: 1, findings: [{ tillId: "t1", difference: -327 }] });
    expect(countCash(report, day)).toEqual({ ...counted, checked: { change: 0, expected: 90_805, difference: -327 } });
  });

  it("has change on other payments if the check subtracted it", () => {
    const day = dayWith({ status: "passed" });
    expect(countCash(report, day).checked).toEqual({ change: 327, expected: 90_478, difference: 0 });
  });

  it.each([
    ["the day is not loaded", undefined],
    ["no cash was counted", dayWith({ status: "unavailable" })],
    ["the cash of this till was not counted", dayWith({ uncheckedTillIds: ["t1"] })],
    ["the finding is not among the first ones", dayWith({ findingCount: 1 })],
  ])("has no expected cash if %s", (_, day) => {
    expect(countCash(report, day)).toEqual({ ...counted, checked: null });
  });
});
