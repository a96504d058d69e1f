import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import {
  parseProcStat,
  readPreciseTreeCpuSeconds,
  readProcessCpuSeconds,
  readProcessMemoryMegabytes,
  readProcessTreeCpuSeconds,
} from "./process-usage.ts";

it("reads a line of /proc whatever the process calls itself", () => {
  const line = "42 (node (a) b) S 7 42 42 0 -1 4194560 1 2 3 4 250 50 30 20 20 0 11 0 100 0 0";
  expect(parseProcStat(line)).toEqual({ pid: 42, parent: 7, own: 3, ofEnded: 0.5 });
});

it("counts the CPU time that this process uses", () => {
  const before = readProcessCpuSeconds(process.pid);
  const finely = readPreciseTreeCpuSeconds(process.pid);
  const used = process.cpuUsage();
  // Until it has used some, however much others leave it.
  while (process.cpuUsage(used).user < 200_000);
  expect(readProcessCpuSeconds(process.pid) - before).toBeGreaterThan(0.1);
  expect(readProcessTreeCpuSeconds(process.pid)).toBeGreaterThanOrEqual(before);
  expect(readPreciseTreeCpuSeconds(process.pid) - finely).toBeGreaterThan(0.19);
});

it("counts what the children of a process use, too", async () => {
  const code =
    "const begun = process.cpuUsage(); while (process.cpuUsage(begun).user < 200_000); setInterval(() => {}, 1e6);";
  const child = spawn(process.execPath, ["-e", `${code} console.log("done")`], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    const alone = readPreciseTreeCpuSeconds(child.pid ?? 0);
    expect(alone).toBeGreaterThan(0.2);
    const all = [readPreciseTreeCpuSeconds(process.pid), readProcessTreeCpuSeconds(process.pid)];
    const { user, system } = process.cpuUsage();
    for (const seconds of all) expect(seconds).toBeGreaterThan((user + system) / 1e6);
  } finally {
    child.kill("SIGKILL");
  }
});

it("tells memory in megabytes", () => {
  const { now, peak } = readProcessMemoryMegabytes(process.pid);
  expect(now).toBeCloseTo(process.memoryUsage.rss() / 2 ** 20, -2);
  expect(peak).toBeGreaterThanOrEqual(now);
});
