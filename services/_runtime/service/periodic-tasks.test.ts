import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { LeaderElection } from "../database/leader-election.ts";
import { createLogger } from "../observability/logger.ts";
import { createPrometheusMetrics } from "../observability/metrics.ts";
import { eventually } from "../testing/eventually.ts";
import type { PeriodicTask } from "./define-service.ts";
import { startPeriodicTask } from "./periodic-tasks.ts";

const metrics = createPrometheusMetrics();
const lines: string[] = [];
const log = createLogger({ name: "test", level: "info", destination: { write: (line) => void lines.push(line) } });

let running: ReturnType<typeof startPeriodicTask> | undefined;
afterEach(() => running?.stop());

/** Starts a task that this process always leads. */
function startTask(run: PeriodicTask<object>["run"], timeoutMs: number): void {
  const leadership = { tryBecomeLeader: async () => true } as unknown as LeaderElection;
  const task = { name: "test", intervalSeconds: 0.01, run };
  running = startPeriodicTask(task, { service: "accounts", leadership, services: {}, timeoutMs, log, metrics });
}

describe("a periodic task", () => {
  it("that never ends is abandoned, counted and started again", async () => {
    let runs = 0;
    const aborted: boolean[] = [];
    startTask((_, __, signal) => {
      runs += 1;
      if (runs > 1) return Promise.resolve();
      return new Promise(() => signal?.addEventListener("abort", () => void aborted.push(true)));
    }, 100);
    await eventually("the second run", () => runs > 1);
    expect(aborted).toEqual([true]);
    expect(await metrics.toPrometheusText()).toMatch(
      /periodic_task_timeouts_total{service="accounts",task="test",.*} 1/,
    );
    expect(lines.join("")).toContain("periodic task abandoned");
    expect(await running?.findNoProgressSince()).toBeUndefined();
  });

  it("counts as stalled after three runs in succession that never ended, until one ends", async () => {
    let runs = 0;
    const startedAtMs = performance.now();
    startTask(() => {
      runs += 1;
      return runs > 5 ? Promise.resolve() : new Promise(() => {});
    }, 100);
    const sinceMs = await eventually("three timeouts", async () => running?.findNoProgressSince());
    expect(runs).toBeGreaterThanOrEqual(3);
    expect(sinceMs - startedAtMs).toBeLessThan(100);
    await eventually("a run that ends", async () => (await running?.findNoProgressSince()) === undefined);
  });

  it("may end when the process stops", async () => {
    let hasEnded = false;
    startTask(async () => {
      await sleep(300);
      hasEnded = true;
    }, 60_000);
    await sleep(50);
    await running?.stop();
    expect(hasEnded).toBe(true);
  });
});
