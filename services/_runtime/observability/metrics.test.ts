import { totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, vi } from "vitest";
import { createPrometheusMetrics, registerProcessMetrics } from "./metrics.ts";

const { startSampling } = vi.hoisted(() => ({ startSampling: vi.fn() }));
vi.mock("node:perf_hooks", async (importOriginal) => {
  const original = await importOriginal<typeof import("node:perf_hooks")>();
  const monitorEventLoopDelay: typeof original.monitorEventLoopDelay = (options) => {
    const monitor = original.monitorEventLoopDelay(options);
    const { enable } = monitor;
    monitor.enable = () => {
      startSampling();
      return enable.call(monitor);
    };
    return monitor;
  };
  return { ...original, monitorEventLoopDelay };
});

it("exports the memory that the process may use, so that its usage can be compared with it", async () => {
  const metrics = createPrometheusMetrics();
  registerProcessMetrics(metrics, { commit: "0123abc" });
  const text = await metrics.toPrometheusText();
  const limit = Number(/^process_memory_limit_bytes(?:\{.*\})? (\S+)/m.exec(text)?.[1]);
  expect(limit).toBeGreaterThan(process.memoryUsage.rss());
  expect(limit).toBeLessThanOrEqual(totalmem());
});

it("exports the version of the process", async () => {
  const metrics = createPrometheusMetrics();
  registerProcessMetrics(metrics, { commit: "0123abc" });
  const [line = ""] = (await metrics.toPrometheusText()).split("\n").filter((each) => each.startsWith("build_info{"));
  expect(line).toMatch(/version="\d+\.\d+\.\d+"/);
  expect(line).toContain('commit="0123abc"');
  expect(line).toContain(`node="${process.version}"`);
  expect(line).toContain(`tz="${process.versions.tz}"`);
  expect(line).toMatch(/ 1$/);
});

it("counts requests with methods that clients invent as one series", async () => {
  const metrics = createPrometheusMetrics();
  for (const method of ["GET", "PURGE", "M-SEARCH", "PROPFIND"])
    metrics.recordRequestDuration(0.1, { service: "gateway", route: "other", method, status: 405 });
  const text = await metrics.toPrometheusText();
  const methods = [...text.matchAll(/^http_request_duration_seconds_count\{.*method="([^"]*)".*\} (\d)$/gm)];
  expect(methods.map(([, method, count]) => `${method} ${count}`).sort()).toEqual(["GET 1", "other 3"]);
});

it("measures the delay of the event loop from the first collection on, so that it costs nothing if there is none", async () => {
  startSampling.mockClear();
  const metrics = createPrometheusMetrics();
  registerProcessMetrics(metrics, { commit: "0123abc" });
  expect(startSampling).not.toHaveBeenCalled();
  await metrics.toPrometheusText();
  await sleep(250);
  const blockedUntil = performance.now() + 400;
  while (performance.now() < blockedUntil);
  await sleep(250);
  const text = await metrics.toPrometheusText();
  const longest = Number(/^event_loop_delay_seconds\{quantile="1".*\} (\S+)/m.exec(text)?.[1]);
  expect(longest).toBeGreaterThan(0.2);
});
