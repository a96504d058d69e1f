import { performance } from "node:perf_hooks";

const sampleMs = 100;
/** The share of time for which the event loop works, from 0 to 1, above which requests noticeably delay each other. */
const busyUtilization = 0.7;

let sampledAt = performance.now();
let lastUtilization = performance.eventLoopUtilization();
let isBusy = false;

/**
 * Returns whether the event loop of this process worked for at least 70 % of the last sample, which is at least a tenth of
 * a second. While it is busy, the work of a location waits for earlier work of the same location.
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
