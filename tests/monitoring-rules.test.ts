import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { findEnclosingPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const grafanaFolder = join(findEnclosingPackageFolder(import.meta.url), "..", "deploy", "grafana");
const isPromtoolInstalled = spawnSync("promtool", ["--version"]).status === 0;

function runPromtool(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync("promtool", args, { cwd: grafanaFolder, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

// These tests run only if `promtool` is installed. It is part of Prometheus (Debian package: `prometheus`).
describe.runIf(isPromtoolInstalled)("promtool", () => {
  it("accepts the alert rules", () => {
    expect(runPromtool("check", "rules", "rules.json")).toMatch(/SUCCESS: \d{2} rules found/);
  });

  it("accepts the configuration of Prometheus with Docker Compose", () => {
    expect(runPromtool("check", "config", "--syntax-only", "../monitoring/prometheus.yml")).toContain("SUCCESS");
  });

  it("passes the tests of the alert rules", () => {
    expect(runPromtool("test", "rules", "rules.test.yaml")).toContain("SUCCESS");
  }, 180_000);
});
