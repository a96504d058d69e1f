import type { PeriodicTask } from "./define-service.ts";
import type { Database } from "./postgres.ts";

const batch = 5_000;

/** Removes what every service keeps for a time only: notes of handled events, and replies to idempotent requests. */
export const housekeeping: PeriodicTask<{ db: Database; inboxKeptDays: number }> = {
  name: "housekeeping",
  everySeconds: 3_600,
  async run({ db: { sql }, inboxKeptDays }) {
    // Longer than the stream keeps events: one that comes again is always known.
    await inBatches(
      () => sql`
        delete from inbox where ctid in (
          select ctid from inbox where handled_at < now() - make_interval(days => ${inboxKeptDays}) limit ${batch}
        )`,
    );
    await inBatches(
      () => sql`
        delete from idempotency_keys where ctid in (
          select ctid from idempotency_keys where answered_at < now() - interval '24 hours'
            or answered_at is null and reserved_at < now() - interval '24 hours'
          limit ${batch}
        )`,
    );
    await inBatches(
      () => sql`
        delete from handling_attempts where ctid in (
          select ctid from handling_attempts where tried_at < now() - make_interval(days => ${inboxKeptDays}) limit ${batch}
        )`,
    );
    await inBatches(
      () => sql`
        delete from daily_usage where ctid in (
          select ctid from daily_usage where day < (now() at time zone 'UTC')::date - 7 limit ${batch}
        )`,
    );
  },
};

async function inBatches(remove: () => Promise<{ count: number }>): Promise<void> {
  while ((await remove()).count === batch);
}
