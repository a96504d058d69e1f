import { sleep } from "../concurrency/sleep.ts";
import type { LeaderElection } from "../database/leader-election.ts";
import type { Database, SqlClient, SqlFragment } from "../database/postgres.ts";
import type { Logger } from "../observability/logger.ts";
import { createOutageLog } from "../observability/outage-log.ts";
import { runWithRequestContext } from "../observability/request-context.ts";
import type { PeriodicTask } from "./define-service.ts";

/** Runs a task again and again until stopped; of several instances, one at a time. What fails waits for the next turn. */
export function startPeriodicTask<Services>(
  task: PeriodicTask<Services>,
  { leadership, services, log }: { leadership: LeaderElection; services: Services; log: Logger },
): { stop(): Promise<void> } {
  const stopping = new AbortController();
  const role = `periodic ${task.name}`;
  const outage = createOutageLog(log, `the task "${task.name}" fails`);

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        if (await leadership.tryBecomeLeader(role))
          await runWithRequestContext({}, (context) => task.run(services, context));
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

const deleteBatchSize = 5_000;

/** Removes the rows of a table for which this holds, some at a time: no statement takes long. */
export async function deleteRowsInBatches(sql: SqlClient, name: string, isRemoved: SqlFragment): Promise<void> {
  const table = sql(name);
  const removeSome = () =>
    sql`delete from ${table} where ctid in (select ctid from ${table} where ${isRemoved} limit ${deleteBatchSize})`;
  while ((await removeSome()).count === deleteBatchSize);
}

/** Removes what every service keeps for a time only: notes of handled events, and replies to idempotent requests. */
export const removeExpiredRowsTask: PeriodicTask<{ db: Database; inboxKeptDays: number }> = {
  name: "housekeeping",
  intervalSeconds: 3_600,
  async run({ db: { sql }, inboxKeptDays }) {
    // Longer than the stream keeps events: one that comes again is always known.
    const inboxKept = sql`now() - make_interval(days => ${inboxKeptDays})`;
    const dayAgo = sql`now() - interval '24 hours'`;
    await deleteRowsInBatches(sql, "inbox", sql`handled_at < ${inboxKept}`);
    const isOver = sql`answered_at < ${dayAgo} or answered_at is null and reserved_at < ${dayAgo}`;
    await deleteRowsInBatches(sql, "idempotency_keys", isOver);
    await deleteRowsInBatches(sql, "handling_attempts", sql`tried_at < ${inboxKept}`);
    await deleteRowsInBatches(sql, "daily_usage", sql`day < (now() at time zone 'UTC')::date - 7`);
  },
};
