import type { TillDryRun } from "@pragma/contracts/till-dry-run";
import type { Database } from "@pragma/runtime/database/postgres";
import type { CalculatedTill } from "../calculation-thread.ts";
import { checkDevices } from "../days/check-devices.ts";
import { checkTillFigures } from "../days/check-figures.ts";
import { computeDay, listCheckedTills, type TillOfDay } from "../days/compute-day.ts";
import { findDayParts } from "../days/queries/days.ts";
import type { TillFigures } from "../days/till-figures.ts";
import type { TillKey } from "../documents/queries/tills.ts";

/** Returns the checks of a till that is not stored, and its business day as it would be with the till. */
export async function previewDayWithTill(
  { sql }: Pick<Database, "sql">,
  { tillId, locationId }: TillKey,
  report: CalculatedTill,
): Promise<Pick<TillDryRun, "till" | "reconciliation" | "day">> {
  const { day, id: reportId, tillFiguresJson } = report;
  const figures: TillFigures | null = tillFiguresJson === null ? null : JSON.parse(tillFiguresJson);
  const parts = await findDayParts(sql, { locationId, day });
  const stored = parts.tills.find((each) => each.tillId === tillId);
  const tillRevision = (stored?.tillRevision ?? 0) + 1;
  const till: TillOfDay = { tillId, reportId, tillRevision, report, figures };
  const tills = [...parts.tills.filter((each) => each.tillId !== tillId), till].sort(compareStarts);
  const orderIds = new Set(report.orders.map(({ id }) => id));
  const context = {
    ...parts,
    tillCount: parts.tillCount + (stored ? 0 : 1),
    openShifts: parts.openShifts.filter((shift) => shift.tillId !== tillId),
    ordersWithoutTill: parts.ordersWithoutTill.filter(({ orderId }) => !orderIds.has(orderId)),
  };
  const { content } = computeDay(tills, context);
  const { checks } = checkDevices(listCheckedTills(tills), context.earlierDays, [], { onlyTillId: tillId });
  const [listed] = computeDay([till], { ...context, tillCount: 1 }).content.tills;
  return {
    till: listed ?? null,
    reconciliation: figures ? [...checkTillFigures([{ tillId, figures }], []), ...checks] : [],
    day: { day, state: content.state, reasons: content.reasons, tillCount: content.tillCount },
  };
}

function compareStarts(one: TillOfDay, other: TillOfDay): number {
  const difference = Date.parse(one.report.startedAt) - Date.parse(other.report.startedAt);
  if (difference !== 0) return difference;
  return one.reportId < other.reportId ? -1 : 1;
}
