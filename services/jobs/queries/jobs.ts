import type { JobOptions, JobResult } from "@pragma/contracts/job";
import { advisoryLockKey, type Sql, type Transaction } from "@pragma/runtime/postgres";
import { PRIORITY_LIMIT } from "bullmq";

/** What tells a job apart from all others. */
export interface JobKey {
  location_id: string;
  id: string;
}

/** A job as it was asked for, and how far it is. */
export interface JobRow extends JobKey {
  key_id: string;
  consumer: string;
  message: string;
  duration: number;
  options: JobOptions;
  timestamp: number;
  created_at: Date;
  /** When it may be done; null for a repeating job, whose runs are rows of their own. */
  due_at: Date | null;
  priority: number;
  /** When it was given to the queue; null while it waits. */
  queued_at: Date | null;
  /** The lease of the process that does it. */
  held_until: Date | null;
  attempts_made: number;
  /** All is done but to wait for its children. */
  is_performed: boolean;
  pending_children: number;
  progress: number;
  /** Of a repeating job: how often it was done. */
  runs: number;
  /** Of a repeating job: when its latest run is due, in milliseconds since 1970. */
  last_due: number | null;
  /** The id of the repeating job that this is a run of. */
  run_of: string | null;
  result: JobResult | null;
  failure: string | null;
  outcome: "completed" | "failed" | null;
  finished_at: Date | null;
  /** Of the request for it (W3C). */
  traceparent: string | null;
}

/** A job as it comes in. */
export type NewJobRow = Pick<
  JobRow,
  "location_id" | "id" | "key_id" | "consumer" | "message" | "duration" | "options" | "traceparent" | "timestamp"
> & { run_of?: string };

/** Whoever creates jobs of a location, or with a key, does so after the other. */
export async function lockCreation(tx: Transaction, locationId: string, keyId: string): Promise<void> {
  for (const name of [`jobs of ${locationId}`, `jobs by ${keyId}`]) {
    await tx`select pg_advisory_xact_lock(${advisoryLockKey(name)}::bigint)`;
  }
}

export async function findJob(sql: Sql | Transaction, { location_id, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await sql<JobRow[]>`select * from jobs where location_id = ${location_id} and id = ${id}`;
  return job;
}

/** A job that nothing changes until the transaction ends. */
export async function lockJob(tx: Transaction, { location_id, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select * from jobs where location_id = ${location_id} and id = ${id} for update`;
  return job;
}

/** The job that one with this deduplication id would be a duplicate of. */
export async function findOriginal(
  tx: Transaction,
  { locationId, deduplicationId }: { locationId: string; deduplicationId: string },
): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select * from jobs
    where location_id = ${locationId} and deduplication_id = ${deduplicationId}
      and case when deduplicated_until is null then finished_at is null else deduplicated_until > clock_timestamp() end
    order by created_at desc limit 1`;
  return job;
}

export async function countUnfinished(tx: Transaction, keyId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from jobs where key_id = ${keyId} and finished_at is null and run_of is null`;
  return row?.count ?? 0;
}

/** The location's unfinished jobs, and those of them that repeat. */
export async function countOfLocation(
  tx: Transaction,
  locationId: string,
): Promise<{ unfinished: number; repeating: number }> {
  const [row] = await tx<{ unfinished: number; repeating: number }[]>`
    select count(*) as unfinished, count(*) filter (where options ? 'repeat') as repeating
    from jobs where location_id = ${locationId} and finished_at is null and run_of is null`;
  return row ?? { unfinished: 0, repeating: 0 };
}

/** Counts one more child of a job, which the job then waits for; false when it has had `maximum` already. */
export async function countChild(tx: Transaction, { location_id, id }: JobKey, maximum: number): Promise<boolean> {
  const { count } = await tx`
    update jobs set children = children + 1, pending_children = pending_children + 1
    where location_id = ${location_id} and id = ${id} and children < ${maximum}`;
  return count > 0;
}

export async function countAllUnfinished(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from jobs where finished_at is null and run_of is null`;
  return row?.count ?? 0;
}

/**
 * Inserts a job, or a run of a repeating one, that may begin at `dueAt`, or now when that is left out. Undefined when
 * there is one of the id.
 */
export async function insertJob(tx: Transaction, job: NewJobRow, dueAt?: Date): Promise<JobRow | undefined> {
  const { options, ...given } = job;
  const { deduplication, priority = 0, lifo = false, repeat } = options;
  const row = {
    ...given,
    options: tx.json(options),
    priority: Math.min(priority, PRIORITY_LIMIT),
    deduplication_id: deduplication?.id ?? null,
  };
  const [inserted] = await tx<JobRow[]>`insert into jobs ${tx(row)} on conflict do nothing returning *`;
  if (!inserted) return undefined;
  const ttl = deduplication?.ttl ?? 0;
  const [ready] = await tx<JobRow[]>`
    update jobs set
      due_at = ${repeat ? null : tx`due`},
      position = extract(epoch from due) * ${lifo ? -1 : 1}::int,
      deduplicated_until = ${ttl > 0 ? tx`clock_timestamp() + make_interval(secs => ${ttl / 1000})` : null}
    from (select coalesce(${dueAt ?? null}::timestamptz, clock_timestamp()) as due) as given
    where location_id = ${job.location_id} and id = ${job.id}
    returning jobs.*`;
  return ready;
}

/** How many runs of a repeating job have been inserted that have not finished. */
export async function countRuns(tx: Transaction, { location_id, id }: JobKey): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*) from jobs where location_id = ${location_id} and run_of = ${id}`;
  return row?.count ?? 0;
}

/** Records when the latest run of a repeating job is due, in milliseconds since 1970. */
export async function recordDue(tx: Transaction, { location_id, id }: JobKey, due: number): Promise<void> {
  await tx`update jobs set last_due = ${due} where location_id = ${location_id} and id = ${id}`;
}

/** Unfinished jobs that an earlier version created, and that are not ready to be done. */
export async function findUnprepared(sql: Sql, limit: number): Promise<JobRow[]> {
  return sql<JobRow[]>`
    select * from jobs
    where finished_at is null and due_at is null and not exists (
      select 1 from jobs as run where run.location_id = jobs.location_id and run.run_of = jobs.id)
    limit ${limit}`;
}

/** Makes a job of an earlier version ready: it is due at `dueAt`, or now, and waits for the children that it has. */
export async function prepareJob(tx: Transaction, job: JobRow, dueAt?: Date): Promise<void> {
  const { priority = 0, lifo = false } = job.options;
  await tx`
    update jobs set
      queued_at = null, due_at = due, priority = ${Math.min(priority, PRIORITY_LIMIT)},
      position = extract(epoch from due) * ${lifo ? -1 : 1}::int,
      pending_children = (
        select count(*) from jobs as child
        where child.location_id = ${job.location_id} and child.options -> 'parent' ->> 'id' = ${job.id}
          and (child.finished_at is null or child.outcome = 'failed' and not child.options ?| array[
            'failParentOnFailure', 'ignoreDependencyOnFailure', 'removeDependencyOnFailure']))
    from (select coalesce(${dueAt ?? null}::timestamptz, created_at) as due from jobs where location_id = ${job.location_id} and id = ${job.id}) as given
    where location_id = ${job.location_id} and id = ${job.id} and due_at is null`;
}
