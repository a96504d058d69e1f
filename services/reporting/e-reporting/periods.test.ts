import { describe, expect, it } from "vitest";
import { type EReportPeriod, findPeriod, listPeriods } from "./periods.ts";

describe("the period of a day", () => {
  it.each([
    ["transactions", "monthly", "2026-09-01", "2026-09-01", "2026-09-10", "2026-09-20"],
    ["transactions", "monthly", "2026-09-10", "2026-09-01", "2026-09-10", "2026-09-20"],
    ["transactions", "monthly", "2026-09-11", "2026-09-11", "2026-09-20", "2026-09-30"],
    ["transactions", "monthly", "2027-02-20", "2027-02-11", "2027-02-20", "2027-02-28"],
    ["transactions", "monthly", "2028-02-29", "2028-02-21", "2028-02-29", "2028-03-10"],
    ["transactions", "monthly", "2026-12-31", "2026-12-21", "2026-12-31", "2027-01-10"],
    ["payments", "monthly", "2026-09-11", "2026-09-01", "2026-09-30", "2026-10-10"],
    ["transactions", "quarterly", "2026-12-15", "2026-12-01", "2026-12-31", "2027-01-10"],
    ["payments", "quarterly", "2026-12-15", "2026-12-01", "2026-12-31", "2027-01-10"],
    ["transactions", "simplified", "2027-01-31", "2027-01-01", "2027-01-31", "2027-02-28"],
    ["payments", "simplified", "2026-12-01", "2026-12-01", "2026-12-31", "2027-01-31"],
    ["transactions", "exempt", "2026-12-31", "2026-11-01", "2026-12-31", "2027-01-31"],
    ["payments", "exempt", "2027-01-01", "2027-01-01", "2027-02-28", "2027-03-31"],
    ["payments", "exempt", "2028-02-29", "2028-01-01", "2028-02-29", "2028-03-31"],
  ] as const)("of %s, %s, on %s is from %s to %s, due on %s", (kind, regime, day, first, last, dueOn) => {
    expect(findPeriod(kind, regime, day)).toEqual({ first, last, dueOn });
  });
});

it("lists the periods of a range without a gap", () => {
  const range = { since: "2027-02-15", until: "2027-03-11" };
  const periods = listPeriods({ kind: "transactions", regime: "monthly", taken: [] }, range);
  expect(periods.map(({ first, last }) => [first, last])).toEqual([
    ["2027-02-11", "2027-02-20"],
    ["2027-02-21", "2027-02-28"],
    ["2027-03-01", "2027-03-10"],
    ["2027-03-11", "2027-03-20"],
  ]);
});

it("keeps the bounds and due dates of periods that were taken under another regime, and has each day once", () => {
  const range = { since: "2027-01-01", until: "2027-06-30" };
  const boundsOf = (regime: "exempt" | "monthly", taken: EReportPeriod[]) =>
    listPeriods({ kind: "transactions", regime, taken }, range).map(({ first, last, dueOn }) => [first, last, dueOn]);
  const decade = { first: "2027-03-11", last: "2027-03-20", dueOn: "2027-03-31" };
  expect(boundsOf("exempt", [decade])).toEqual([
    ["2027-01-01", "2027-02-28", "2027-03-31"],
    ["2027-03-01", "2027-03-10", "2027-03-20"],
    ["2027-03-11", "2027-03-20", "2027-03-31"],
    ["2027-03-21", "2027-03-31", "2027-04-10"],
    ["2027-04-01", "2027-04-30", "2027-05-31"],
    ["2027-05-01", "2027-06-30", "2027-07-31"],
  ]);
  const twoMonths = { first: "2027-03-01", last: "2027-04-30", dueOn: "2027-05-31" };
  expect(boundsOf("monthly", [twoMonths]).slice(5, 8)).toEqual([
    ["2027-02-21", "2027-02-28", "2027-03-10"],
    ["2027-03-01", "2027-04-30", "2027-05-31"],
    ["2027-05-01", "2027-05-10", "2027-05-20"],
  ]);
  // The month of a business with quarterly returns is due on the 10th.
  const month = { first: "2027-03-01", last: "2027-03-31", dueOn: "2027-04-10" };
  for (const regime of ["exempt", "monthly"] as const)
    expect(boundsOf(regime, [month])).toContainEqual(["2027-03-01", "2027-03-31", "2027-04-10"]);
});
