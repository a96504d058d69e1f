import { describeDemoDayProblem, findDemoDayProblem } from "@pragma/simulator/demo-day-cases";
import { type DemoDayWithTillId, listDemoDaysWithTillIds } from "@pragma/simulator/demo-location";
import type { SandboxWithLocation } from "./queries/sandboxes.ts";

/** The share of the orders of the demo's tills, so that a sandbox needs little space. */
export const sandboxTillShare = 0.4;

/** Returns the thirty days before a sandbox was created, newest first, with the ids of their tills. */
export function listSandboxDays({ locationId, createdAt }: Pick<SandboxWithLocation, "locationId" | "createdAt">) {
  return listDemoDaysWithTillIds(locationId, createdAt).reverse() as [DemoDayWithTillId, ...DemoDayWithTillId[]];
}

/**
 * Returns what is wrong with the days on purpose, by their index. An event may have given the newest day another problem. A
 * missing shift cannot be detected on the oldest day.
 */
export function listDayProblems(
  days: readonly DemoDayWithTillId[],
  { newestDayProblem }: Pick<SandboxWithLocation, "newestDayProblem">,
) {
  return days.map(({ day }, index) => {
    const problem = (index === 0 && newestDayProblem) || findDemoDayProblem(day);
    const isDetected = problem && !(problem === "missing_shift" && index === days.length - 1);
    return isDetected ? describeDemoDayProblem(problem) : null;
  });
}
