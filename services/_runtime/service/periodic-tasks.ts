import { sleep } from "../concurrency/sleep.ts";
import type { LeaderElection } from "../database/leader-election.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { runWithObservabilityContext } from "../observability/request-context.ts";
import type { PeriodicTask } from "./define-service.ts";

/** Runs a task in one instance at a time, at its interval and even after failures, until `stop` is called. */
export function startPeriodicTask<Services>(
  task: PeriodicTask<Services>,
  { leadership, services, log }: { leadership: LeaderElection; services: Services; log: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const role = `periodic ${task.name}`;
  const outage = createOutageLog(log, `periodic task "${task.name}" fails`);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await leadership.tryBecomeLeader(role))
          await runWithObservabilityContext({}, (context) => task.run(services, context));
        outage.recordRecovery();
      } catch (error) {
        outage.recordFailure(error);
      }
      await sleep(task.intervalSeconds * 1000, stopping.signal);
    }
  }

  const running = run();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
