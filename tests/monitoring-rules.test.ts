import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { findPackageFolder } from "@pragma/runtime/process/package-folder";
import { describe, expect, it } from "vitest";

const grafanaFolder = join(findPackageFolder(import.meta.url), "..", "deploy", "grafana");
const isPromtoolInstalled = spawnSync("promtool", ["--version"]).status === 0;

function runPromtool(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync("promtool", args, { cwd: grafanaFolder, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

// What Prometheus itself says of the rules, on a machine that has its `promtool` (Debian: the package `prometheus`).
describe.runIf(isPromtoolInstalled)("Prometheus", () => {
  it("understands the alert rules", () => {
    expect(runPromtool("check", "rules", "rules.json")).toMatch(/SUCCESS: \d{2} rules found/);
  });

  it("rings when it should, and not otherwise", () => {
    expect(runPromtool("test", "rules", "rules.test.yaml")).toContain("SUCCESS");
  });
});
