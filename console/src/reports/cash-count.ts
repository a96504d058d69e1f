import type { ApiSchemaTypes } from "@pragma/client";
import type { Day } from "../days/day-state.tsx";

type Report = ApiSchemaTypes["ReportV2"];

/** The cash of a shift, in minor units. */
interface CashCount {
  payments: number;
  tips: number;
  movements: number;
  /** What the check of the business day found; null if it did not check this till, or is not known yet. */
  checked: {
    /** Cash that was given as change on payments by other modes, less other change on cash payments. */
    change: number;
    expected: number;
    /** Counted minus expected cash. */
    difference: number;
  } | null;
}

/**
 * Returns the cash that a report counts. Change that was given by another mode than its payment is not in reports, so the
 * expected cash is that of the check `cash` of the business day.
 */
export function countCash(report: Report, day: Day | undefined): CashCount {
  const inCash = report.reportRecordedPayments.filter(({ paymentMode }) => paymentMode === "cash");
  const payments = sumOf(inCash.map(({ paymentType, totalAmount }) => (isForOrder(paymentType) ? totalAmount : 0)));
  const tips = sumOf(
    inCash.map(({ paymentType, totalAmount, tipsAmount }) => {
      if (paymentType === "tip") return totalAmount;
      return paymentType === "change" || paymentType === "discount" ? 0 : tipsAmount;
    }),
  );
  const movements = sumOf(
    report.reportEntries.map(({ paymentMode, entryAmount }) => ((paymentMode ?? "cash") === "cash" ? entryAmount : 0)),
  );
  const difference = findCashDifference(report, day);
  if (difference === null) return { payments, tips, movements, checked: null };
  const expected = report.finalCashBalance - difference;
  const change = report.initialCashBalance + payments + tips + movements - expected;
  return { payments, tips, movements, checked: { change, expected, difference } };
}

const sumOf = (amounts: number[]) => amounts.reduce((sum, amount) => sum + amount, 0);

const isForOrder = (paymentType: Report["reportRecordedPayments"][number]["paymentType"]) =>
  paymentType === "payment" || paymentType === "customerAccount";

/** Returns the cash difference of the report's till; null if the check did not include the till. */
function findCashDifference({ id, tillId }: Report, day: Day | undefined): number | null {
  const check = day?.reconciliation.find(({ code }) => code === "cash");
  if (!day?.tills.some(({ reportId }) => reportId === id)) return null;
  if (!check || check.status === "unavailable" || check.uncheckedTillIds.includes(tillId)) return null;
  const finding = check.findings.find((each) => each.tillId === tillId);
  if (finding) return finding.difference;
  // Of a day with very many findings, the API returns the first ones.
  return check.findings.length < check.findingCount ? null : 0;
}
