import { runWithDeadline } from "../concurrency/run-with-deadline.ts";
import { sleep } from "../concurrency/sleep.ts";
import type { LeaderElection } from "../database/leader-election.ts";
import type { Logger } from "../observability/logger.ts";
import type { PrometheusMetrics } from "../observability/metrics.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { runWithObservabilityContext } from "../observability/request-context.ts";
import type { PeriodicTask } from "./define-service.ts";

interface PeriodicTaskOptions<Services> {
  service: string;
  leadership: LeaderElection;
  services: Services;
  /** The timeout of tasks without a timeout of their own, in milliseconds. */
  timeoutMs: number;
  log: Logger;
  metrics: PrometheusMetrics;
}

class PeriodicTaskTimeoutError extends Error {}

const timeoutsBeforeStalled = 3;
const drainTimeoutMs = 5_000;

/** Runs a task in one instance at a time. A run that does not end in time may continue, but no other waits for it. */
export function startPeriodicTask<Services>(
  task: PeriodicTask<Services>,
  { service, leadership, services, timeoutMs, log, metrics }: PeriodicTaskOptions<Services>,
) {
  const stopping = new AbortController();
  const abandonment = new AbortController();
  const role = `periodic ${task.name}`;
  const outage = createOutageLog(log, `periodic task "${task.name}" fails`);
  const taskTimeoutMs = Math.max(timeoutMs, (task.timeoutSeconds ?? 0) * 1000);
  /** When the runs began that did not end in time, since the last one that ended. As of `performance.now()`. */
  let timedOutStartsMs: number[] = [];
  const recordTimeout = (count = 1) => metrics.countPeriodicTaskTimeouts(count, { service, task: task.name });
  // Prometheus sees an increase only if the counter already exists.
  recordTimeout(0);

  async function runAsLeader(signal: AbortSignal): Promise<void> {
    if (!(await leadership.tryBecomeLeader(role)) || signal.aborted) return;
    await runWithObservabilityContext({}, (context) => task.run(services, context, signal));
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAtMs = performance.now();
      try {
        await runWithDeadline(runAsLeader, {
          timeoutMs: taskTimeoutMs,
          createError: () => new PeriodicTaskTimeoutError(`The task did not end within ${taskTimeoutMs / 1000} s.`),
          parent: abandonment.signal,
        });
        timedOutStartsMs = [];
        outage.recordRecovery();
      } catch (error) {
        if (abandonment.signal.aborted) return;
        if (error instanceof PeriodicTaskTimeoutError) {
          timedOutStartsMs.push(startedAtMs);
          recordTimeout();
          log.error({ err: error, task: task.name }, "periodic task abandoned");
        } else timedOutStartsMs = [];
        outage.recordFailure(error);
      }
      await sleep(task.intervalSeconds * 1000, stopping.signal);
    }
  }

  const running = run();
  return {
    name: task.name,
    /** Returns when the first of several successive runs began that did not end in time, on the clock of `performance.now()`. */
    findNoProgressSince: async () =>
      timedOutStartsMs.length < timeoutsBeforeStalled ? undefined : timedOutStartsMs[0],
    /** Waits for the run in progress for up to 5 seconds, and then abandons it. */
    async stop(): Promise<void> {
      stopping.abort();
      const drainTimer = setTimeout(() => abandonment.abort(new Error("The process stops.")), drainTimeoutMs);
      await running;
      clearTimeout(drainTimer);
    },
  };
}
