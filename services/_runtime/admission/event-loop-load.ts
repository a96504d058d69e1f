import { performance } from "node:perf_hooks";

const sampleMs = 100;
/** The share of time for which the event loop works, from 0 to 1, above which requests noticeably delay each other. */
const busyUtilization = 0.7;
/** How late timers run, in milliseconds, from which other processes noticeably delay this one. */
const lateMs = 5;
const probeMs = 20;
const latestShare = 0.3;

let sampledAt = performance.now();
let lastUtilization = performance.eventLoopUtilization();
let isUsed = false;
let averageLatenessMs = 0;
let isMeasuring = false;

/** Returns whether the event loop worked for at least 70 % of the last tenth of a second, or timers run late. */
export function isEventLoopBusy(): boolean {
  measureLateness();
  const now = performance.now();
  if (now - sampledAt >= sampleMs) {
    const current = performance.eventLoopUtilization();
    isUsed = performance.eventLoopUtilization(current, lastUtilization).utilization >= busyUtilization;
    sampledAt = now;
    lastUtilization = current;
  }
  return isUsed || averageLatenessMs >= lateMs;
}

/** Measures only while something asks, so that an idle process sleeps. */
function measureLateness(): void {
  if (isMeasuring) return;
  isMeasuring = true;
  const dueAt = performance.now() + probeMs;
  const timer = setTimeout(() => {
    isMeasuring = false;
    averageLatenessMs += latestShare * (performance.now() - dueAt - averageLatenessMs);
  }, probeMs);
  timer.unref();
}
