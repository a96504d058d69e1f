import { advisoryLockKey, type Database, type Sql, type Transaction } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./jobs.ts";

/** A job that is due and waits for no child. The same words as in the indexes. */
const isDue = (sql: Sql | Transaction) => sql`finished_at is null and pending_children = 0 and due_at <= now()`;
/** A job that was given to the queue a while ago, and has no lease, is one that Redis has lost, or its process. */
const isTaken = (sql: Sql | Transaction) => sql`greatest(queued_at + interval '3 seconds', held_until) > now()`;

/** Until when the process has a job that begins or goes on with it now; later another may do it. */
export const leaseEnd = (sql: Sql | Transaction) => sql`now() + interval '15 seconds'`;

/** Marks the jobs that are in the queue from now on: those that are due, in their order, so many of a location. */
export async function admitJobs(db: Database, maxPerLocation: number): Promise<JobRow[]> {
  const waits = (sql: Sql | Transaction) => sql`${isDue(sql)} and ${isTaken(sql)} is not true`;
  const [due] = await db.sql`select 1 from jobs where ${waits(db.sql)} limit 1`;
  if (!due) return [];
  return db.transaction(async (tx) => {
    // Two processes that count at the same time would admit too many, and not in their order.
    await tx`select pg_advisory_xact_lock(${advisoryLockKey("admit jobs")}::bigint)`;
    return tx<JobRow[]>`
      update jobs set queued_at = now()
      from (select distinct location_id as id from jobs where ${isDue(tx)}) location, lateral (
        select waiting.location_id, waiting.id from jobs as waiting
        where waiting.location_id = location.id and ${waits(tx)}
        order by priority, position
        limit greatest(0, ${maxPerLocation} - (
          select count(*) from jobs as taken
          where taken.location_id = location.id and finished_at is null and queued_at is not null and ${isTaken(tx)}))
      ) as admitted
      where jobs.location_id = admitted.location_id and jobs.id = admitted.id
      returning jobs.*`;
  });
}

/** Acquires the lease of a job that was given to the queue, unless another process has it. */
export async function acquireJob(tx: Transaction, { locationId, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update jobs set held_until = ${leaseEnd(tx)}, lease_id = gen_random_uuid()
    where location_id = ${locationId} and id = ${id} and finished_at is null and queued_at is not null
      and coalesce(held_until < now(), true)
    returning *`;
  return job;
}
