import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { computeTillAccountingData } from "@pragma/reporting/calculation/settlement/till-accounting-data";
import type { LastShiftByDevice } from "@pragma/reporting/days/check-devices";
import { computeDay, type TillOfDay } from "@pragma/reporting/days/compute-day";
import { computeTillFigures } from "@pragma/reporting/days/till-figures";
import { describeDemoDayProblem, findDemoDayProblem } from "@pragma/simulator/demo-day-cases";
import { generateDemoTill, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import { expect, it } from "vitest";

const locationId = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";

/** Returns the failed checks of each day that has some, and the days that are incomplete. */
function checkDemoDays({ now, share }: { now: string; share: number }) {
  const earlierDays: LastShiftByDevice[] = [];
  const failedChecks: Record<string, string[]> = {};
  const incompleteDays: string[] = [];
  for (const demoDay of listDemoDaysWithTillIds(locationId, new Date(now))) {
    const till = TillV2.parse(generateDemoTill(locationId, demoDay, { share }));
    const report = computeDocuments(till, { locationId })?.reportV2 ?? expect.unreachable();
    const accountingData = computeTillAccountingData(till, (at) => at.slice(0, 10));
    const figures = computeTillFigures(report, accountingData, till);
    const tillOfDay: TillOfDay = { tillId: till.id, reportId: report.id, tillRevision: 1, report, figures };
    const { content, lastShifts } = computeDay([tillOfDay], {
      ...{ tillCount: 1, openShifts: [], earlierDays, ordersWithoutTill: [] },
    });
    earlierDays.unshift(lastShifts);
    if (content.state === "incomplete") incompleteDays.push(demoDay.day);
    const failed = content.reconciliation.filter(({ status }) => status === "failed").map(({ code }) => code);
    if (failed.length > 0) failedChecks[demoDay.day] = failed;
  }
  return { failedChecks, incompleteDays };
}

it.each([
  { now: "2026-06-15T12:00:00.000Z", share: 1 },
  { now: "2026-07-07T12:00:00.000Z", share: 1 },
  { now: "2026-11-30T12:00:00.000Z", share: 0.4 },
])("in a month of a demo at $now, only the days with a known problem fail a check", (demo) => {
  const { failedChecks, incompleteDays } = checkDemoDays(demo);
  const days = listDemoDaysWithTillIds(locationId, new Date(demo.now)).map(({ day }) => day);
  // A report number that is missing on the first day cannot be detected.
  const expected = days.slice(1).flatMap((day) => {
    const problem = findDemoDayProblem(day);
    return problem ? [[day, [describeDemoDayProblem(problem).check]] as const] : [];
  });
  expect(new Set(expected.map(([day]) => findDemoDayProblem(day))).size).toBe(3);
  expect(expected.length).toBeLessThanOrEqual(4);
  expect(failedChecks).toEqual(Object.fromEntries(expected));
  expect(new Set(incompleteDays.map(findDemoDayProblem))).toEqual(new Set(["missing_shift"]));
});
