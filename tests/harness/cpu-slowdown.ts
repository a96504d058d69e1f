import { createHash } from "node:crypto";

/** CPU time of the measured computation, in milliseconds. */
const measuredCpuMs = 200;

/**
 * Returns how much slower than idle this machine is because of other load: the wall time of a computation divided by
 * its CPU time, at least 1.
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
