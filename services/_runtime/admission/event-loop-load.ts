import { performance } from "node:perf_hooks";

const sampleMs = 100;
/** The share of time that the event loop works from which requests wait for each other noticeably. */
const busyUtilization = 0.7;

let sampledAt = performance.now();
let lastUtilization = performance.eventLoopUtilization();
let isBusy = false;

/**
 * Returns whether the event loop of this process has worked for at least 70 % of the last tenth of a second. Work of a
 * location then waits for earlier work of the same location, so that each location has one step in a turn of the loop.
 */
export function isEventLoopBusy(): boolean {
  const now = performance.now();
  if (now - sampledAt < sampleMs) return isBusy;
  const current = performance.eventLoopUtilization();
  isBusy = performance.eventLoopUtilization(current, lastUtilization).utilization >= busyUtilization;
  sampledAt = now;
  lastUtilization = current;
  return isBusy;
}
