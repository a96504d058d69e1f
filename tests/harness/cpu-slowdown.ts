import { createHash } from "node:crypto";

/** CPU time of the computation that measures how busy the machine is, in milliseconds. */
const measuredCpuMs = 200;

/**
 * Returns the factor by which other programs slow down this process, which is at least 1. It is the elapsed time of a
 * computation divided by the CPU time of the computation.
 */
export function measureCpuSlowdown(): number {
  const started = performance.now();
  const before = process.cpuUsage();
  let usedMs = 0;
  while (usedMs < measuredCpuMs) {
    createHash("sha256").update(Buffer.alloc(100_000)).digest();
    const { user, system } = process.cpuUsage(before);
    usedMs = (user + system) / 1000;
  }
  return Math.max(1, (performance.now() - started) / usedMs);
}
