import type { PeriodicTask } from "./define-service.ts";
import type { Leadership } from "./leadership.ts";
import type { Logger } from "./logger.ts";
import { openOutageLog } from "./outage-log.ts";
import type { Database } from "./postgres.ts";
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

const removedAtOnce = 5_000;

/** Removes what every service keeps for a time only: notes of handled events, and replies to idempotent requests. */
export const housekeeping: PeriodicTask<{ db: Database; inboxKeptDays: number }> = {
  name: "housekeeping",
  everySeconds: 3_600,
  async run({ db: { sql }, inboxKeptDays }) {
    // Longer than the stream keeps events: one that comes again is always known.
    const inboxKept = sql`now() - make_interval(days => ${inboxKeptDays})`;
    const dayAgo = sql`now() - interval '24 hours'`;
    for (const outdated of [
      { table: "inbox", rows: sql`handled_at < ${inboxKept}` },
      {
        table: "idempotency_keys",
        rows: sql`answered_at < ${dayAgo} or answered_at is null and reserved_at < ${dayAgo}`,
      },
      { table: "handling_attempts", rows: sql`tried_at < ${inboxKept}` },
      { table: "daily_usage", rows: sql`day < (now() at time zone 'UTC')::date - 7` },
    ]) {
      const table = sql(outdated.table);
      const remove = () =>
        sql`delete from ${table} where ctid in (select ctid from ${table} where ${outdated.rows} limit ${removedAtOnce})`;
      while ((await remove()).count === removedAtOnce);
    }
  },
};
