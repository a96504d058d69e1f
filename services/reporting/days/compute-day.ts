import { type Day, type DayReasonCode, type DayTotals, maxTillsPerDay } from "@pragma/contracts/day";
import { AmountOutOfRangeError } from "@pragma/contracts/money";
import { checkDevices, type DeviceDays, type DeviceTill } from "./check-devices.ts";
import { checkTillFigures, getTips, isForOrder } from "./check-figures.ts";
import { addUpRows, sum, type TillDayFacts } from "./till-day-facts.ts";

/** A till of a day with what is stored of its report. */
export interface TillOfDay {
  tillId: string;
  reportId: string;
  revision: number;
  /** What `report.finalized` contains. */
  report: { reportNumber: number; startedAt: string; finalizedAt: string; totalSales: number };
  /** Null if the report was stored by an earlier version, and is packed. */
  facts: TillDayFacts | null;
}

export type DayContent = Pick<Day, "state" | "reasons" | "tillCount" | "tills" | "totals" | "reconciliation">;

export interface ComputedDay {
  content: DayContent;
  devices: DeviceDays;
}

/**
 * Adds up and checks the tills of a day, which are sorted by start. `earlierDevices` are the devices of earlier days,
 * latest day first.
 */
export function computeDay(
  tills: readonly TillOfDay[],
  { tillCount, earlierDevices }: { tillCount: number; earlierDevices: readonly DeviceDays[] },
): ComputedDay {
  const listed = tills.slice(0, maxTillsPerDay);
  const content = { tillCount, tills: listed.map(toListedTill) };
  if (tillCount > maxTillsPerDay) return { content: withoutFigures(content, "too_many_tills"), devices: {} };
  const complete = listed.flatMap(({ tillId, facts }) => (facts ? [{ tillId, facts }] : []));
  const otherTillIds = listed.filter(({ facts }) => !facts).map(({ tillId }) => tillId);
  const checkedDevices = checkDevices(
    complete.map(({ tillId, facts }): DeviceTill => ({ ...facts, tillId })),
    earlierDevices,
    otherTillIds,
  );
  const { devices, missingReports } = checkedDevices;
  try {
    const totals = addUpTotals(
      listed,
      complete.map(({ facts }) => facts),
    );
    const reconciliation = [...checkTillFigures(complete, otherTillIds), ...checkedDevices.checks];
    const reasons = [
      ...(missingReports > 0
        ? [buildReason("report_number_gap", `Report numbers that are missing: ${missingReports}.`)]
        : []),
      ...(complete.length < tillCount
        ? [buildReason("figures_unavailable", `Tills that must be reprocessed: ${tillCount - complete.length}.`)]
        : []),
    ];
    return {
      content: { ...content, state: reasons.length > 0 ? "incomplete" : "closed", reasons, totals, reconciliation },
      devices,
    };
  } catch (error) {
    // Only with amounts that no real till has.
    if (!(error instanceof AmountOutOfRangeError)) throw error;
    return { content: withoutFigures(content, "figures_unavailable"), devices };
  }
}

const buildReason = (code: DayReasonCode, message: string) => ({ code, message });

function withoutFigures(
  content: Pick<DayContent, "tillCount" | "tills">,
  reason: "too_many_tills" | "figures_unavailable",
): DayContent {
  const message = {
    too_many_tills: `The day has ${content.tillCount} tills, which is more than ${maxTillsPerDay}.`,
    figures_unavailable: "The amounts are too large to be added up.",
  }[reason];
  return {
    ...content,
    state: "incomplete",
    reasons: [buildReason(reason, message)],
    totals: null,
    reconciliation: [],
  };
}

function toListedTill({ tillId, reportId, revision, report, facts }: TillOfDay): Day["tills"][number] {
  const { reportNumber, startedAt, finalizedAt, totalSales } = report;
  return {
    ...{ tillId, reportId, reportNumber, revision },
    deviceIdentifier: facts?.deviceIdentifier ?? "",
    deviceName: facts?.deviceName ?? "",
    ...{ startedAt, finalizedAt, totalSales, isComplete: facts !== null },
  };
}

function addUpTotals(tills: readonly TillOfDay[], facts: readonly TillDayFacts[]): DayTotals {
  const taxes = addUpRows(
    facts.flatMap((till) =>
      till.taxes.map(([rate, taxable, tax]) => ({
        key: [rate] as const,
        amounts: { taxableAmount: taxable, taxAmount: tax },
      })),
    ),
  );
  const payments = addUpRows(
    facts.flatMap((till) => [
      ...till.recorded.map((group) => {
        const [mode, , amount, changeAmount] = group;
        const recordedAmount = isForOrder(group) ? amount : 0;
        const amounts = { recordedAmount, tipsAmount: getTips(group), changeAmount, declaredAmount: 0 };
        return { key: [mode] as const, amounts };
      }),
      ...till.declared.map(([mode, declaredAmount]) => ({
        key: [mode] as const,
        amounts: { recordedAmount: 0, tipsAmount: 0, changeAmount: 0, declaredAmount },
      })),
    ]),
  );
  return {
    totalSales: sum(tills.map(({ report }) => report.totalSales)),
    orderCount: sum(facts.map(({ orders }) => orders)),
    guestsNumber: sum(facts.map(({ guests }) => guests)),
    discounts: sum(facts.map(({ discounts }) => discounts)),
    taxes: taxes
      .map(({ key: [taxRate], amounts }) => ({ taxRate, ...amounts }))
      .sort((one, other) => one.taxRate - other.taxRate),
    payments: payments.map(({ key: [paymentMode], amounts }) => ({ paymentMode, ...amounts })),
  };
}
