import type { PeriodicTask } from "./define-service.ts";
import type { Logger } from "./logger.ts";
import { advisoryLockKey, type Database } from "./postgres.ts";
import { withRequestContext } from "./request-context.ts";
import { sleep } from "./sleep.ts";

/** Runs a task again and again until stopped; of several instances, one at a time. A failure is logged, and waits for the next turn. */
export function startPeriodic<Services>(
  task: PeriodicTask<Services>,
  { database, services, log }: { database: Database; services: Services; log: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const lock = advisoryLockKey(`periodic ${database.schema} ${task.name}`);

  async function runUnlessElsewhere(): Promise<void> {
    await database.sql.begin(async (tx) => {
      // This transaction only holds the lock: it is idle for as long as the task takes.
      await tx`set local idle_in_transaction_session_timeout = 0`;
      const [row] = await tx<{ mine: boolean }[]>`select pg_try_advisory_xact_lock(${lock}::bigint) as mine`;
      if (row?.mine) await withRequestContext({}, () => task.run(services));
    });
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await runUnlessElsewhere().catch((error) => log.error({ err: error, task: task.name }, "periodic task failed"));
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
