import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import {
  parseProcStat,
  readMemoryMegabytes,
  readProcessCpuSeconds,
  readProcessTreeCpuSeconds,
  readTreeCpuSeconds,
} from "./process-usage.ts";

it("parses a line of /proc with spaces and parentheses in the process name", () => {
  const line = "42 (node (a) b) S 7 42 42 0 -1 4194560 1 2 3 4 250 50 30 20 20 0 11 0 100 0 0";
  expect(parseProcStat(line)).toEqual({ pid: 42, parent: 7, ownCpuSeconds: 3, endedChildrenCpuSeconds: 0.5 });
});

it("returns the CPU time of this process", () => {
  const before = readProcessCpuSeconds(process.pid);
  const preciseBefore = readTreeCpuSeconds(process.pid);
  const used = process.cpuUsage();
  // The loop ends by CPU time, not by wall time, because the process may get only a part of a CPU core.
  while (process.cpuUsage(used).user < 200_000);
  expect(readProcessCpuSeconds(process.pid) - before).toBeGreaterThan(0.1);
  expect(readProcessTreeCpuSeconds(process.pid)).toBeGreaterThanOrEqual(before);
  expect(readTreeCpuSeconds(process.pid) - preciseBefore).toBeGreaterThan(0.19);
});

it("includes the CPU time of child processes", async () => {
  const code =
    "const begun = process.cpuUsage(); while (process.cpuUsage(begun).user < 200_000); setInterval(() => {}, 1e6);";
  const child = spawn(process.execPath, ["-e", `${code} console.log("done")`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    const childSeconds = readTreeCpuSeconds(child.pid ?? 0);
    expect(childSeconds).toBeGreaterThan(0.2);
    const treeSeconds = [readTreeCpuSeconds(process.pid), readProcessTreeCpuSeconds(process.pid)];
    const { user, system } = process.cpuUsage();
    for (const seconds of treeSeconds) expect(seconds).toBeGreaterThan((user + system) / 1e6);
  } finally {
    child.kill("SIGKILL");
  }
});

it("returns memory in megabytes", () => {
  const { now, peak } = readMemoryMegabytes(process.pid);
  expect(now).toBeCloseTo(process.memoryUsage.rss() / 2 ** 20, -2);
  expect(peak).toBeGreaterThanOrEqual(now);
});
