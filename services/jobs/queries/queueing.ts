import type { Sql } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./jobs.ts";

/** Unfinished jobs that are in no queue and that nobody is doing, oldest first: a parent before its children. */
export async function findUnqueued(sql: Sql, limit: number): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select * from jobs
    where finished_at is null and queued_at is null and (held_until is null or held_until < now())
    order by created_at, id limit ${limit}`;
}

export async function markQueued(sql: Sql, { location_id, id }: JobKey): Promise<void> {
  await sql`
    update jobs set queued_at = now() where location_id = ${location_id} and id = ${id} and finished_at is null`;
}

/** These have to be given to their queues again; with none named, all that have not finished. */
export async function markUnqueued(sql: Sql, jobs?: JobKey[]): Promise<void> {
  await sql`
    update jobs set queued_at = null where finished_at is null and queued_at is not null
    ${jobs ? sql`and (location_id, id) in (select * from ${keysOf(sql, jobs)})` : sql``}`;
}

function keysOf(sql: Sql, jobs: JobKey[]) {
  return sql`unnest(${jobs.map((job) => job.location_id)}::uuid[], ${jobs.map((job) => job.id)}::text[])`;
}

/** Unfinished jobs that were given to their queues a while ago and that nobody is doing, in portions by their key. */
export async function findQueued(
  sql: Sql,
  { after, limit }: { after: JobKey | undefined; limit: number },
): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select * from jobs
    where finished_at is null and queued_at < now() - interval '5 seconds'
      and (held_until is null or held_until < now())
      ${after ? sql`and (location_id, id) > (${after.location_id}, ${after.id})` : sql``}
    order by location_id, id limit ${limit}`;
}

/** The locations that have anything to do. */
export async function findBusyLocations(sql: Sql): Promise<string[]> {
  const rows = await sql<{ location_id: string }[]>`select distinct location_id from jobs where finished_at is null`;
  return rows.map((row) => row.location_id);
}

/** Whether a job has children that are yet to be given to their queue. */
export async function hasChildrenToQueue(sql: Sql, { location_id, id }: JobKey): Promise<boolean> {
  const rows = await sql`
    select 1 from jobs
    where location_id = ${location_id} and options -> 'parent' ->> 'id' = ${id} and finished_at is null and queued_at is null
    limit 1`;
  return rows.length > 0;
}
