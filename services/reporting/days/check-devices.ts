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
  const gaps: Partial<DayCheckFinding>[] = [];
  const repeats: Partial<DayCheckFinding>[] = [];
  const overlaps: Partial<DayCheckFinding>[] = [];
  const lastShifts: LastShiftByDevice = {};
  let checked = 0;
  for (const shifts of groupByKey(tillsWithDevice, (till) => [getDevice(till)])) {
    const device = getDevice(shifts[0]);
    checked += shifts.filter(({ tillId }) => onlyTillId === undefined || tillId === onlyTillId).length;
    const previousShift = earlierDays.find((day) => Object.hasOwn(day, device))?.[device];
    const numbers = findReportNumberGaps(shifts, previousShift?.lastReportNumber);
    const deviceIdentifier = device;
    gaps.push(...numbers.gaps.map((gap) => ({ ...gap, deviceIdentifier })));
    repeats.push(...numbers.repeats.map((repeat) => ({ ...repeat, deviceIdentifier })));
    overlaps.push(
      ...findOverlaps(shifts, previousShift?.finalizedAt).map((overlap) => ({ ...overlap, deviceIdentifier })),
    );
    lastShifts[device] = {
      lastReportNumber: numbers.lastReportNumber,
      finalizedAt: shifts.reduce(
        (end, { finalizedAt }) => (isUtcBefore(end, finalizedAt) ? finalizedAt : end),
        shifts[0].finalizedAt,
      ),
    };
  }
  const build = (code: DayCheckCode, found: Partial<DayCheckFinding>[]) => {
    const concerns = (id: string | null | undefined) => onlyTillId === undefined || id === onlyTillId;
    const findings = found.filter(({ tillId, otherTillId }) => concerns(tillId) || concerns(otherTillId));
    return buildCheck(code, {
      ...{ checked, findings, difference: null, amounts: [] },
      uncheckedTillIds: uncheckedTillIds.filter(concerns),
    });
  };
  return {
    checks: [
      build("report_number_gaps", gaps),
      build("report_number_repeats", repeats),
      build("shift_overlaps", overlaps),
    ],
    lastShifts,
    missingReports: gaps.reduce(
      (count, { firstReportNumber, lastReportNumber }) =>
        count + (lastReportNumber ?? 0) - (firstReportNumber ?? 0) + 1,
      0,
    ),
  };
}

type ReportNumberFinding = Pick<DayCheckFinding, "tillId" | "firstReportNumber" | "lastReportNumber"> &
  Partial<Pick<DayCheckFinding, "otherTillId">>;

/** Returns the missing ranges of numbers, the repeated numbers, and the number after which the next shift continues. */
function findReportNumberGaps(
  shifts: readonly DeviceTill[],
  previousReportNumber: number | undefined,
): { gaps: ReportNumberFinding[]; repeats: ReportNumberFinding[]; lastReportNumber: number } {
  const numbers = [...new Set(shifts.map(({ reportNumber }) => reportNumber))].sort((a, b) => a - b);
  const gaps: ReportNumberFinding[] = [];
  const repeats: ReportNumberFinding[] = [];
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
