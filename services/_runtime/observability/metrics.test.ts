import { totalmem } from "node:os";
import { expect, it } from "vitest";
import { createPrometheusMetrics, registerProcessMetrics } from "./metrics.ts";

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
