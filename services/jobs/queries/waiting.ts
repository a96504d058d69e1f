import { advisoryLockKey, type Database, type Sql, type Transaction } from "@pragma/runtime/postgres";
import { PRIORITY_LIMIT } from "bullmq";
import type { JobKey, JobRow } from "./jobs.ts";

/** Another process may do a job when the one that does it has not renewed its lease for so many seconds. */
export const leaseSeconds = 15;

/** A job that waits in PostgreSQL and for no child. The same words as in the indexes. */
const waits = (sql: Sql | Transaction) => sql`finished_at is null and queued_at is null and pending_children = 0`;
const isInQueue = (sql: Sql | Transaction) => sql`finished_at is null and queued_at is not null`;
const isUnleased = (sql: Sql | Transaction) => sql`(held_until is null or held_until < now())`;

/** The locations that have a job which is due, and fewer than so many in the queue. */
export async function findDueLocations(sql: Sql, maxPerLocation: number): Promise<string[]> {
  const rows = await sql<{ location_id: string }[]>`
    select distinct location_id from jobs where ${waits(sql)} and due_at <= now()
    except
    select location_id from jobs where ${isInQueue(sql)} group by location_id having count(*) >= ${maxPerLocation}`;
  return rows.map((row) => row.location_id);
}

/** Milliseconds until another job is due; infinite when none is. */
export async function untilNextDue(sql: Sql): Promise<number> {
  const [row] = await sql<{ wait: number | null }[]>`
    select extract(epoch from min(due_at) - clock_timestamp())::float8 * 1000 as wait
    from jobs where ${waits(sql)} and due_at > now()`;
  return row?.wait ?? Number.POSITIVE_INFINITY;
}

/** Marks the jobs that these locations may have in the queue from now on, in the order in which they wait. */
export async function admitJobs(
  db: Database,
  { locationIds, maxPerLocation }: { locationIds: string[]; maxPerLocation: number },
): Promise<JobRow[]> {
  if (locationIds.length === 0) return [];
  return db.transaction(async (tx) => {
    // Two processes that count at the same time would admit too many, and not in their order.
    await tx`select pg_advisory_xact_lock(${advisoryLockKey("admit jobs")}::bigint)`;
    return tx<JobRow[]>`
      update jobs set queued_at = now()
      from unnest(${locationIds}::uuid[]) as location (id), lateral (
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

/** Jobs that have been in the queue for a while without being done; they are not found again for as long. */
export async function findOverdue(sql: Sql, { seconds, limit }: { seconds: number; limit: number }): Promise<JobRow[]> {
  return sql<JobRow[]>`
    update jobs set queued_at = now() where (location_id, id) in (
      select location_id, id from jobs
      where ${isInQueue(sql)} and ${isUnleased(sql)} and queued_at < now() - make_interval(secs => ${seconds})
      order by queued_at limit ${limit})
    returning *`;
}

/** Until when a process does a job that acquires or renews its lease now. */
export const leaseEnd = (sql: Sql | Transaction) => sql`now() + make_interval(secs => ${leaseSeconds})`;

/** Acquires the lease of a job that was given to the queue, unless another process has it. */
export async function acquireJob(tx: Transaction, { location_id, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update jobs set held_until = ${leaseEnd(tx)}
    where location_id = ${location_id} and id = ${id} and ${isInQueue(tx)} and ${isUnleased(tx)}
    returning *`;
  return job;
}

/** Has the jobs wait that a version created whose queues knew when each is due. */
export async function prepareJobs(sql: Sql): Promise<void> {
  await sql`
    update jobs set
      queued_at = null,
      due_at = to_timestamp((timestamp + coalesce((options ->> 'delay')::float8, 0)) / 1000),
      priority = least(coalesce((options ->> 'priority')::int, 0), ${PRIORITY_LIMIT}),
      position = extract(epoch from created_at) * case when (options ->> 'lifo')::boolean then -1 else 1 end,
      pending_children = (
        select count(*) from jobs as child
        where child.location_id = jobs.location_id and child.options -> 'parent' ->> 'id' = jobs.id
          and (child.finished_at is null or child.outcome = 'failed' and not child.options ?| array[
            'failParentOnFailure', 'ignoreDependencyOnFailure', 'removeDependencyOnFailure']))
    where finished_at is null and due_at is null and not options ? 'repeat'`;
}

/** Repeating jobs that have no run: such a version created them. */
export async function findWithoutRun(sql: Sql, limit: number): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select * from jobs
    where finished_at is null and due_at is null and options ? 'repeat' and not exists (
      select 1 from jobs as run where run.location_id = jobs.location_id and run.run_of = jobs.id)
    limit ${limit}`;
}
