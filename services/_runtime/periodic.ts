import type { PeriodicTask } from "./define-service.ts";
import type { Leadership } from "./leadership.ts";
import type { Logger } from "./logger.ts";
import { openOutageLog } from "./outage-log.ts";
import { withRequestContext } from "./request-context.ts";
import { sleep } from "./sleep.ts";

/** Runs a task again and again until stopped; of several instances, one at a time. What fails waits for the next turn. */
export function startPeriodic<Services>(
  task: PeriodicTask<Services>,
  { leadership, services, log }: { leadership: Leadership; services: Services; log: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const role = `periodic ${task.name}`;
  const outage = openOutageLog(log, `the task "${task.name}" fails`);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await leadership.tryLead(role)) await withRequestContext({}, (context) => task.run(services, context));
        outage.recovered();
      } catch (error) {
        outage.failed(error);
      }
      await sleep(task.everySeconds * 1000, stopping.signal);
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
