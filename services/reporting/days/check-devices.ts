import { isUtcBefore } from "@pragma/contracts/date-time";
import type { DayCheckCode, DayCheckFinding } from "@pragma/contracts/day";
import { groupByKey } from "../calculation/groups.ts";
import { buildCheck, type CheckedTill } from "./check-figures.ts";
import type { TillFigures } from "./till-figures.ts";

/**
 * The last shift of each device on a day: the number after which later shifts continue, and the latest end of its shifts.
 */
export type LastShiftByDevice = Record<string, { lastReportNumber: number; finalizedAt: string }>;

type DeviceTill = TillFigures & { tillId: string };

/**
 * Returns the checks of report numbers and shifts of each device. `earlierDays` are sorted, latest day first. The reports
 * of a device whose numbers begin again at a lower number are not missing. With `onlyTillId`, the findings about other
 * tills are left out.
 */
export function checkDevices(
  checkedTills: readonly CheckedTill[],
  earlierDays: readonly LastShiftByDevice[],
  otherTillIds: readonly string[],
  { onlyTillId }: { onlyTillId?: string } = {},
) {
  const tills = checkedTills.map(({ tillId, figures }): DeviceTill => ({ ...figures, tillId }));
  const getDevice = ({ deviceIdentifier, deviceName }: DeviceTill) => deviceIdentifier || deviceName;
  const withoutDevice = tills.filter((till) => getDevice(till) === "");
  const uncheckedTillIds = [...otherTillIds, ...withoutDevice.map(({ tillId }) => tillId)];
  const tillsWithDevice = tills.filter((till) => getDevice(till) !== "");
  const found = {
    report_number_gaps: [] as Partial<DayCheckFinding>[],
    report_number_repeats: [] as Partial<DayCheckFinding>[],
    shift_overlaps: [] as Partial<DayCheckFinding>[],
  };
  const lastShifts: LastShiftByDevice = {};
  let checked = 0;
  for (const shifts of groupByKey(tillsWithDevice, (till) => [getDevice(till)])) {
    const device = getDevice(shifts[0]);
    checked += shifts.filter(({ tillId }) => onlyTillId === undefined || tillId === onlyTillId).length;
    const previousShift = earlierDays.find((day) => Object.hasOwn(day, device))?.[device];
    const numbers = findReportNumberGaps(shifts, previousShift?.lastReportNumber);
    const ofDevice = (finding: Partial<DayCheckFinding>) => ({ ...finding, deviceIdentifier: device });
    found.report_number_gaps.push(...numbers.gaps.map(ofDevice));
    found.report_number_repeats.push(...numbers.repeats.map(ofDevice));
    found.shift_overlaps.push(...findOverlaps(shifts, previousShift?.finalizedAt).map(ofDevice));
    lastShifts[device] = {
      lastReportNumber: numbers.lastReportNumber,
      finalizedAt: shifts.reduce(
        (end, { finalizedAt }) => (isUtcBefore(end, finalizedAt) ? finalizedAt : end),
        shifts[0].finalizedAt,
      ),
    };
  }
  const concerns = (id: string | null | undefined) => onlyTillId === undefined || id === onlyTillId;
  return {
    checks: (Object.entries(found) as [DayCheckCode, Partial<DayCheckFinding>[]][]).map(([code, all]) =>
      buildCheck(code, {
        ...{ checked, difference: null, amounts: [], uncheckedTillIds: uncheckedTillIds.filter(concerns) },
        findings: all.filter(({ tillId, otherTillId }) => concerns(tillId) || concerns(otherTillId)),
      }),
    ),
    lastShifts,
    missingReports: found.report_number_gaps.reduce(
      (count, { firstReportNumber, lastReportNumber }) =>
        count + (lastReportNumber ?? 0) - (firstReportNumber ?? 0) + 1,
      0,
    ),
  };
}

/** Returns the missing ranges of numbers, the repeated numbers, and the number after which the next shift continues. */
function findReportNumberGaps(shifts: readonly DeviceTill[], previousReportNumber: number | undefined) {
  const numbers = [...new Set(shifts.map(({ reportNumber }) => reportNumber))].sort((a, b) => a - b);
  const gaps: Partial<DayCheckFinding>[] = [];
  const repeats: Partial<DayCheckFinding>[] = [];
  const tillIds = new Map<number, string | null>(
    previousReportNumber === undefined ? [] : [[previousReportNumber, null]],
  );
  let last = previousReportNumber;
  // Numbers that a shift skipped, because a later shift of the day has them.
  const later = new Set<number>();
  for (const { tillId, reportNumber } of shifts) {
    const otherTillId = tillIds.get(reportNumber);
    if (otherTillId !== undefined)
      repeats.push({ tillId, otherTillId, firstReportNumber: reportNumber, lastReportNumber: reportNumber });
    else tillIds.set(reportNumber, tillId);
    const previous = last;
    if (previous !== undefined && reportNumber > previous + 1) {
      const between = numbers.filter((number) => number > previous && number < reportNumber);
      let next = previous + 1;
      for (const number of [...between, reportNumber]) {
        if (number > next) gaps.push({ tillId, firstReportNumber: next, lastReportNumber: number - 1 });
        next = number + 1;
      }
      for (const number of between) later.add(number);
    }
    if (!later.has(reportNumber)) last = reportNumber;
  }
  return { gaps, repeats, lastReportNumber: last ?? 0 };
}

function findOverlaps(shifts: readonly DeviceTill[], previousEnd: string | undefined): Partial<DayCheckFinding>[] {
  let end = previousEnd;
  let endTillId: string | null = null;
  const overlaps: Partial<DayCheckFinding>[] = [];
  for (const { tillId, startedAt, finalizedAt } of shifts) {
    if (end !== undefined && isUtcBefore(startedAt, end)) overlaps.push({ tillId, otherTillId: endTillId });
    if (end === undefined || isUtcBefore(end, finalizedAt)) [end, endTillId] = [finalizedAt, tillId];
  }
  return overlaps;
}
