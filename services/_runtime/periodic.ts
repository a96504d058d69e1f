import type { PeriodicTask } from "./define-service.ts";
import type { Leadership } from "./leadership.ts";
import type { Logger } from "./logger.ts";
import { openOutageLog } from "./outage-log.ts";
import type { Database, Fragment, Sql } from "./postgres.ts";
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

/** Removes the rows of a table for which this holds, some at a time: no statement takes long. */
export async function removeRows(sql: Sql, name: string, isRemoved: Fragment): Promise<void> {
  const table = sql(name);
  const removeSome = () =>
    sql`delete from ${table} where ctid in (select ctid from ${table} where ${isRemoved} limit ${removedAtOnce})`;
  while ((await removeSome()).count === removedAtOnce);
}

/** Removes what every service keeps for a time only: notes of handled events, and replies to idempotent requests. */
export const housekeeping: PeriodicTask<{ db: Database; inboxKeptDays: number }> = {
  name: "housekeeping",
  everySeconds: 3_600,
  async run({ db: { sql }, inboxKeptDays }) {
    // Longer than the stream keeps events: one that comes again is always known.
    const inboxKept = sql`now() - make_interval(days => ${inboxKeptDays})`;
    const dayAgo = sql`now() - interval '24 hours'`;
    await removeRows(sql, "inbox", sql`handled_at < ${inboxKept}`);
    const isOver = sql`answered_at < ${dayAgo} or answered_at is null and reserved_at < ${dayAgo}`;
    await removeRows(sql, "idempotency_keys", isOver);
    await removeRows(sql, "handling_attempts", sql`tried_at < ${inboxKept}`);
    await removeRows(sql, "daily_usage", sql`day < (now() at time zone 'UTC')::date - 7`);
  },
};
