import { monitorEventLoopDelay, performance } from "node:perf_hooks";
import type { Metrics } from "./metrics.ts";

/** How often the loop's delay is sampled, in milliseconds; what is measured contains it. */
const resolution = 100;

/** What a process tells of itself: how late its event loop is, its CPU and its memory. */
export function observeProcess(metrics: Metrics): void {
  const delay = monitorEventLoopDelay({ resolution });
  delay.enable();
  let before = performance.eventLoopUtilization();
  const lateness = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - resolution / 1e3);

  metrics.observeAll("event_loop_delay_seconds", "How late the event loop was since this was last read", () => {
    const quantiles = { "0.5": delay.percentile(50), "0.99": delay.percentile(99), "1": delay.max };
    delay.reset();
    return Object.entries(quantiles).map(([quantile, found]) => ({ value: lateness(found), labels: { quantile } }));
  });
  const utilizationHelp = "Share of time in which the event loop was busy since this was last read";
  metrics.observe("event_loop_utilization", utilizationHelp, () => {
    const now = performance.eventLoopUtilization();
    const { utilization } = performance.eventLoopUtilization(now, before);
    before = now;
    return utilization;
  });
  metrics.observe("process_resident_memory_bytes", "Memory of this process", () => process.memoryUsage.rss());
  metrics.observe("process_heap_used_bytes", "What of it is JavaScript's", () => process.memoryUsage().heapUsed);
  metrics.observe("process_start_time_seconds", "When this process started, in seconds since 1970", () =>
    Math.round(performance.timeOrigin / 1000),
  );
  metrics.count("process_cpu_seconds", "CPU that this process has used, in seconds", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
}
