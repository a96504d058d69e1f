import type { PeriodicTask } from "./define-service.ts";
import type { Database } from "./postgres.ts";

const batch = 5_000;

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
        sql`delete from ${table} where ctid in (select ctid from ${table} where ${outdated.rows} limit ${batch})`;
      while ((await remove()).count === batch);
    }
  },
};
