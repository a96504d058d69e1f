import { createHash } from "node:crypto";

/** Of the computation that is measured, in milliseconds of processor time. */
const measuredCpuMs = 200;

/**
 * How many times longer than on an idle machine everything takes now, for what others do there: the time that a
 * computation takes for each second of its processor time; 1 where nobody else has anything to do.
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
