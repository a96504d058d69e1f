import { type Day, type DayReasonCode, type DayTotals, maxTillsPerDay } from "@pragma/contracts/day";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import { groupByKey, sum } from "../calculation/groups.ts";
import { checkDevices, type LastShiftByDevice } from "./check-devices.ts";
import { buildCheck, type CheckedTill, checkTillFigures, getTips, isForOrder } from "./check-figures.ts";
import type { OrderWithoutTill } from "./queries/shifts.ts";
import type { TillFigures } from "./till-figures.ts";

/** A till of a day with what is stored of its report. */
export interface TillOfDay {
  tillId: string;
  reportId: string;
  tillRevision: number;
  report: { reportNumber: number; startedAt: string; finalizedAt: string; totalSales: number };
  /** Null if a sum is too large. */
  figures: TillFigures | null;
}

export type DayContent = Pick<
  Day,
  "state" | "reasons" | "tillCount" | "tills" | "openShifts" | "totals" | "reconciliation"
>;

/** What a day is computed from, besides its tills. */
export interface DayContext {
  tillCount: number;
  openShifts: Day["openShifts"];
  ordersWithoutTill: readonly OrderWithoutTill[];
  earlierDays: readonly LastShiftByDevice[];
}

/** Returns the totals, checks and state of a day. `tills` are the tills of the day, sorted by start. */
export function computeDay(
  tills: readonly TillOfDay[],
  context: DayContext,
): { content: DayContent; lastShifts: LastShiftByDevice } {
  const { tillCount, openShifts, ordersWithoutTill, earlierDays } = context;
  if (tillCount > maxTillsPerDay)
    return { content: withoutTotals({ tillCount, tills: [], openShifts }, "too_many_tills"), lastShifts: {} };
  const content = { tillCount, tills: tills.map(toListedTill), openShifts };
  const complete = listCheckedTills(tills);
  const otherTillIds = tills.filter(({ figures }) => !figures).map(({ tillId }) => tillId);
  const checkedDevices = checkDevices(complete, earlierDays, otherTillIds);
  const { lastShifts, missingReports } = checkedDevices;
  try {
    const reconciliation = [
      ...checkTillFigures(complete, otherTillIds),
      ...checkedDevices.checks,
      buildCheck("orders_without_till", {
        ...{ checked: 1, difference: null, uncheckedTillIds: [] },
        amounts: [{ name: "withoutTill", amount: sum(ordersWithoutTill.map(({ total }) => total)) }],
        findings: ordersWithoutTill.map(({ tillId, orderId }) => ({ tillId, orderId })),
      }),
    ];
    const missingOrders = ordersWithoutTill.filter(({ isCanceled }) => !isCanceled).length;
    const totals = addUpTotals(tills);
    const counts: { code: DayReasonCode; label: string; count: number }[] = [
      { code: "orders_without_till", label: "Live orders that are in no till", count: missingOrders },
      { code: "report_number_gap", label: "Report numbers that are missing", count: missingReports },
      { code: "figures_unavailable", label: "Tills with a sum that is too large", count: tillCount - complete.length },
    ];
    const reasons = counts
      .filter(({ count }) => count > 0)
      .map(({ code, label, count }) => ({ code, message: `${label}: ${count}.` }));
    return {
      content: { ...content, state: toState(openShifts, reasons), reasons, totals, reconciliation },
      lastShifts,
    };
  } catch (error) {
    // Only with amounts that no real till has.
    if (!(error instanceof AmountOutOfRangeError)) throw error;
    return { content: withoutTotals(content, "amounts_too_large"), lastShifts };
  }
}

export function listCheckedTills(tills: readonly TillOfDay[]): CheckedTill[] {
  return tills.flatMap(({ tillId, figures }) => (figures ? [{ tillId, figures }] : []));
}

/** A day whose shifts are still open can be complete later, so it is not reported as incomplete. */
function toState(openShifts: readonly unknown[], reasons: readonly unknown[]): Day["state"] {
  if (openShifts.length > 0) return "open";
  return reasons.length > 0 ? "incomplete" : "closed";
}

function withoutTotals(
  content: Pick<DayContent, "tillCount" | "tills" | "openShifts">,
  reason: "too_many_tills" | "amounts_too_large",
): DayContent {
  const message = {
    too_many_tills: `The day has ${content.tillCount} tills, which is more than ${maxTillsPerDay}.`,
    amounts_too_large: "A sum exceeds 9,007,199,254,740,991 minor units, so it cannot be computed exactly.",
  }[reason];
  const reasons = [{ code: reason, message }];
  return { ...content, state: toState(content.openShifts, reasons), reasons, totals: null, reconciliation: [] };
}

function toListedTill({ tillId, reportId, tillRevision, report, figures }: TillOfDay): Day["tills"][number] {
  const { reportNumber, startedAt, finalizedAt, totalSales } = report;
  return {
    ...{ tillId, reportId, reportNumber, tillRevision },
    deviceIdentifier: figures?.deviceIdentifier ?? "",
    deviceName: figures?.deviceName ?? "",
    ...{ startedAt, finalizedAt, totalSales, isComplete: figures !== null },
  };
}

function addUpTotals(tills: readonly TillOfDay[]): DayTotals {
  const figures = tills.flatMap((till) => till.figures ?? []);
  const taxes = groupByKey(
    figures.flatMap((till) => till.taxes),
    ([taxRate]) => [taxRate],
  );
  const payments = groupByKey(
    figures.flatMap(({ recordedPayments, declaredPayments }) => [
      ...recordedPayments.map((group) => {
        const [paymentMode, , amount, changeAmount] = group;
        const recordedAmount = isForOrder(group) ? amount : 0;
        return { paymentMode, recordedAmount, tipsAmount: getTips(group), changeAmount, declaredAmount: 0 };
      }),
      ...declaredPayments.map(([paymentMode, declaredAmount]) => ({
        ...{ paymentMode, recordedAmount: 0, tipsAmount: 0, changeAmount: 0, declaredAmount },
      })),
    ]),
    ({ paymentMode }) => [paymentMode],
  );
  return {
    totalSales: sum(tills.map(({ report }) => report.totalSales)),
    orderCount: sum(figures.map(({ orderCount }) => orderCount)),
    guestsNumber: sum(figures.map(({ guestsNumber }) => guestsNumber)),
    discounts: sum(figures.map(({ discounts }) => discounts)),
    taxes: taxes
      .map((group) => ({
        taxRate: group[0][0],
        taxableAmount: sum(group.map(([, taxable]) => taxable)),
        taxAmount: sum(group.map(([, , tax]) => tax)),
      }))
      .sort((one, other) => one.taxRate - other.taxRate),
    payments: payments.map((group) => ({
      paymentMode: group[0].paymentMode,
      recordedAmount: sum(group.map(({ recordedAmount }) => recordedAmount)),
      tipsAmount: sum(group.map(({ tipsAmount }) => tipsAmount)),
      changeAmount: sum(group.map(({ changeAmount }) => changeAmount)),
      declaredAmount: sum(group.map(({ declaredAmount }) => declaredAmount)),
    })),
  };
}
