import { maxLiveOrdersPerRequest } from "@pragma/contracts/order-live";
import { getDemoReportNumber } from "@pragma/simulator/demo-day-cases";
import { omitSupersededRevisions } from "@pragma/simulator/order-revisions";
import {
  createDemoShiftAt,
  generateDemoTillShiftSchedule,
  planFirstDemoTillShift,
  shortShiftMs,
} from "@pragma/simulator/simulate-demo";
import { createSandboxClient, type SandboxServices } from "./context.ts";
import { pushSandboxTill } from "./push-sandbox-till.ts";
import { type SandboxWithLocation, updateLeasedSandbox } from "./queries/sandboxes.ts";
import { listSandboxDays } from "./sandbox-days.ts";

/** The number of orders of a simulated shift of two hours. */
const ordersPerShift = 40;
/** The minimum time between two changes, in milliseconds. */
const minPauseMs = 5_000;

/**
 * Sends the changes of live orders that are due, and pushes the till of a shift that has ended. Returns when the next
 * change is due. Repeated changes have no effect, because they have the same ids and revision hashes.
 */
export async function advanceLiveOrders(services: SandboxServices, sandbox: SandboxWithLocation): Promise<Date> {
  const { db } = services;
  const { id, locationId, shiftStartedAt, shiftSentUntil } = sandbox;
  const api = createSandboxClient(services, sandbox);
  const now = Date.now();
  const shift = shiftStartedAt
    ? createDemoShiftAt(locationId, shiftStartedAt.getTime(), shortShiftMs)
    : planFirstDemoTillShift({ locationId, clock: { now: () => now, wait: async () => {} } });
  const schedule = generateDemoTillShiftSchedule(shift, ordersPerShift);
  const hasEnded = now >= shift.startsAtMs + shift.durationMs;
  if (hasEnded) {
    await pushSandboxTill(api, locationId, { ...schedule.till, reportNumber: getShiftReportNumber(sandbox) });
    const shiftCount = sandbox.shiftCount + 1;
    await updateLeasedSandbox(db, id, { shiftStartedAt: null, shiftSentUntil: null, shiftCount });
    return new Date(now);
  }
  const { revisions } = omitSupersededRevisions(schedule, now);
  const sentUntil = shiftSentUntil?.getTime() ?? 0;
  const due = revisions.filter(({ atMs }) => atMs > sentUntil && atMs <= now).map(({ order }) => order);
  for (let first = 0; first < due.length; first += maxLiveOrdersPerRequest)
    await api.POST("/v1/orders-live", { body: due.slice(first, first + maxLiveOrdersPerRequest) });
  await updateLeasedSandbox(db, id, { shiftStartedAt: new Date(shift.startsAtMs), shiftSentUntil: new Date(now) });
  const next = revisions.find(({ atMs }) => atMs > now)?.atMs ?? shift.startsAtMs + shift.durationMs;
  return new Date(Math.max(next, now + minPauseMs));
}

/** Continues the report numbers of the thirty days. */
function getShiftReportNumber(sandbox: SandboxWithLocation): number {
  const [{ day }] = listSandboxDays(sandbox);
  const nextDay = new Date(Date.parse(day) + 24 * 60 * 60 * 1000).toISOString().slice(0, 10);
  return getDemoReportNumber(nextDay) + sandbox.shiftCount;
}
