import { advisoryLockKey, type Database, type Sql, type Transaction } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./jobs.ts";

/** A job that waits in PostgreSQL and for no child. The same words as in the indexes. */
const waits = (sql: Sql | Transaction) => sql`finished_at is null and queued_at is null and pending_children = 0`;
const isInQueue = (sql: Sql | Transaction) => sql`finished_at is null and queued_at is not null`;
const isUnleased = (sql: Sql | Transaction) => sql`(held_until is null or held_until < now())`;

/** Until when the process has a job that begins or goes on with it now; later another may do it. */
export const leaseEnd = (sql: Sql | Transaction) => sql`now() + interval '15 seconds'`;

/** Marks the jobs that may be in the queue from now on: those that are due, in their order, so many of a location. */
export async function admitJobs(db: Database, maxPerLocation: number): Promise<JobRow[]> {
  const [due] = await db.sql`select 1 from jobs where ${waits(db.sql)} and due_at <= now() limit 1`;
  if (!due) return [];
  return db.transaction(async (tx) => {
    // Two processes that count at the same time would admit too many, and not in their order.
    await tx`select pg_advisory_xact_lock(${advisoryLockKey("admit jobs")}::bigint)`;
    return tx<JobRow[]>`
      update jobs set queued_at = now()
      from (select distinct location_id as id from jobs where ${waits(tx)} and due_at <= now()) location, lateral (
        select waiting.location_id, waiting.id from jobs as waiting
        where waiting.location_id = location.id and ${waits(tx)} and due_at <= now()
        order by priority, position
        limit greatest(0, ${maxPerLocation} - (
          select count(*) from jobs as queued where queued.location_id = location.id and ${isInQueue(tx)}))
      ) as admitted
      where jobs.location_id = admitted.location_id and jobs.id = admitted.id
      returning jobs.*`;
  });
}

/** Acquires the lease of a job that was given to the queue, unless another process has it. */
export async function acquireJob(tx: Transaction, { locationId, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update jobs set held_until = ${leaseEnd(tx)}
    where location_id = ${locationId} and id = ${id} and ${isInQueue(tx)} and ${isUnleased(tx)}
    returning *`;
  return job;
}

/**
 * Has jobs wait again that are in the queue for a while without being done: Redis has lost them, or their process. And
 * those of an older version that runs beside this one, whose queues know when each is due.
 */
export async function returnLostJobs(sql: Sql): Promise<void> {
  await sql`
    update jobs set
      queued_at = null,
      due_at = coalesce(due_at, to_timestamp((timestamp + coalesce((options ->> 'delay')::float8, 0)) / 1000))
    where finished_at is null and not options ? 'repeat' and (
      due_at is null or queued_at < now() - interval '3 seconds' and ${isUnleased(sql)})`;
}

/** Repeating jobs that have no run: an older version created them. */
export async function findWithoutRun(sql: Sql, limit: number): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select * from jobs
    where finished_at is null and due_at is null and options ? 'repeat' and not exists (
      select 1 from jobs as run where run.location_id = jobs.location_id and run.run_of = jobs.id)
    limit ${limit}`;
}
