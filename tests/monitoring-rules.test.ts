import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { packageFolder } from "@pragma/runtime/package-folder";
import { describe, expect, it } from "vitest";

const grafana = join(packageFolder(import.meta.url), "..", "deploy", "grafana");
const isHere = spawnSync("promtool", ["--version"]).status === 0;

function promtool(...args: string[]): string {
  const { stdout, stderr, status } = spawnSync("promtool", args, { cwd: grafana, encoding: "utf8" });
  expect(status, stdout + stderr).toBe(0);
  return stdout + stderr;
}

// What Prometheus itself says of the rules, on a machine that has its `promtool` (Debian: the package `prometheus`).
describe.runIf(isHere)("Prometheus", () => {
  it("understands the alert rules", () => {
    expect(promtool("check", "rules", "rules.json")).toMatch(/SUCCESS: \d{2} rules found/);
  });

  it("rings when it should, and not otherwise", () => {
    expect(promtool("test", "rules", "rules.test.yaml")).toContain("SUCCESS");
  });
});
