import { dayCheckDescriptions } from "@pragma/contracts/day";
import { TillV2 } from "@pragma/contracts/till-v2";
import { computeDocuments } from "@pragma/reporting/calculation/compute-report";
import { computeTillAccountingData } from "@pragma/reporting/calculation/settlement/till-accounting-data";
import type { LastShiftByDevice } from "@pragma/reporting/days/check-devices";
import { computeDay, type TillOfDay } from "@pragma/reporting/days/compute-day";
import { computeTillFigures } from "@pragma/reporting/days/till-figures";
import { createDemoOrderWithoutTill, findDemoDayCase } from "@pragma/simulator/demo-day-cases";
import { generateDemoTill, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import { expect, it } from "vitest";

const locationId = "0f8a4c8e-6a51-4b8e-9c1d-0a6f5f3b2c11";

it("a month of the demo location has closed and incomplete days, and a failure of each check", () => {
  const earlierDays: LastShiftByDevice[] = [];
  const failures = new Map<string, string[]>();
  const states = new Map<string, string>();
  for (const demoDay of listDemoDaysWithTillIds(locationId, new Date("2026-06-15T12:00:00.000Z"))) {
    const generated = generateDemoTill(locationId, demoDay);
    const till = TillV2.parse(generated);
    const report = computeDocuments(till, { locationId })?.reportV2 ?? expect.unreachable();
    const figures = computeTillFigures(
      report,
      computeTillAccountingData(till, (at) => at.slice(0, 10)),
      till,
    );
    const tillOfDay: TillOfDay = { tillId: till.id, reportId: report.id, tillRevision: 1, report, figures };
    const orders =
      findDemoDayCase(demoDay.day)?.[0] === "orders_without_till" ? [createDemoOrderWithoutTill(generated)] : [];
    const { content, lastShifts } = computeDay([tillOfDay], {
      ...{ tillCount: 1, openShifts: [], earlierDays },
      ordersWithoutTill: orders.map(({ id, total }) => ({ orderId: id, tillId: till.id, total, isCanceled: false })),
    });
    earlierDays.unshift(lastShifts);
    states.set(demoDay.day, content.state);
    for (const { code, status } of content.reconciliation)
      if (status === "failed") failures.set(code, [...(failures.get(code) ?? []), demoDay.day]);
  }
  expect([...failures.keys()].sort()).toEqual(Object.keys(dayCheckDescriptions).sort());
  expect([...states.values()].filter((state) => state === "incomplete")).toHaveLength(2);
  expect([...states.values()].filter((state) => state === "closed")).toHaveLength(28);
});
