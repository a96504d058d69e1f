import type { JobOptions, JobResult } from "@pragma/contracts/job";
import { type Database, lockUntilCommit, type SqlClient, type SqlTransaction } from "@pragma/runtime/database/postgres";
import { PRIORITY_LIMIT } from "bullmq";

/** What tells a job apart from all others. */
export interface JobKey {
  locationId: string;
  id: string;
}

/** A job as it was asked for, and how far it is. */
export interface JobRow extends JobKey {
  keyId: string;
  consumer: string;
  message: string;
  duration: number;
  options: JobOptions;
  timestamp: number;
  createdAt: Date;
  /** When it may be done; null for a repeating job, whose runs are rows of their own. */
  dueAt: Date | null;
  priority: number;
  /** When it was given to the queue; null while it waits. */
  queuedAt: Date | null;
  /** When the lease ends of the process that does it. */
  heldUntil: Date | null;
  /** The lease that was acquired last; null before the first. */
  leaseId: string | null;
  attemptsMade: number;
  /** All is done but to wait for its children. */
  isPerformed: boolean;
  /** How many children it was ever given. */
  children: number;
  /** How many of them it waits for. */
  pendingChildren: number;
  progress: number;
  /** Of a repeating job: how often it was done. */
  runs: number;
  /** Of a repeating job: when its latest run is due, in milliseconds since 1970. */
  lastDue: number | null;
  /** The id of the repeating job that this is a run of. */
  runOf: string | null;
  result: JobResult | null;
  failure: string | null;
  outcome: "completed" | "failed" | null;
  finishedAt: Date | null;
  /** Of the request for it (W3C). */
  traceparent: string | null;
}

/** A job as it comes in. */
type NewJobRow = Pick<
  JobRow,
  "locationId" | "id" | "keyId" | "consumer" | "message" | "duration" | "options" | "traceparent" | "timestamp"
> & { runOf?: string };

/** Whoever creates jobs of a location, or with a key, does so after the other. */
export async function lockJobCreation(
  tx: SqlTransaction,
  db: Database,
  locationId: string,
  keyId: string,
): Promise<void> {
  for (const name of [`jobs of ${locationId}`, `jobs by ${keyId}`]) await lockUntilCommit(tx, db, name);
}

export async function findJob(sql: SqlClient, { locationId, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await sql<JobRow[]>`select * from jobs where location_id = ${locationId} and id = ${id}`;
  return job;
}

/** A job that nothing changes until the transaction ends. */
export async function lockJob(tx: SqlTransaction, { locationId, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select * from jobs where location_id = ${locationId} and id = ${id} for update`;
  return job;
}

/** The job of this jobId, or else the one that a job with this deduplication id would be a duplicate of. */
export async function findExistingJob(
  tx: SqlTransaction,
  {
    locationId,
    jobId,
    duplicateOf: deduplicationId,
  }: { locationId: string; jobId: string | null; duplicateOf: string | null },
): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select * from jobs
    where location_id = ${locationId} and (id = ${jobId} or deduplication_id = ${deduplicationId}
      and case when deduplicated_until is null then finished_at is null else deduplicated_until > clock_timestamp() end)
    order by coalesce(id = ${jobId}, false) desc, created_at desc limit 1`;
  return job;
}

/** The unfinished jobs of a key and of a location, and those of the location that repeat. */
export async function countUnfinishedJobs(tx: SqlTransaction, locationId: string, keyId: string) {
  const [counts] = await tx<[{ ofKey: number; ofLocation: number; repeating: number }]>`
    select count(*) filter (where key_id = ${keyId}) as of_key,
      count(*) filter (where location_id = ${locationId}) as of_location,
      count(*) filter (where location_id = ${locationId} and options ? 'repeat') as repeating
    from jobs where (key_id = ${keyId} or location_id = ${locationId}) and finished_at is null and run_of is null`;
  return counts;
}

export async function countAllUnfinishedJobs(sql: SqlClient): Promise<number> {
  const [row] = await sql<[{ count: number }]>`select count(*) from jobs where finished_at is null and run_of is null`;
  return row.count;
}

/** Inserts a job, or a run of a repeating one, that may begin at `dueAt`, or now when that is left out. */
export async function insertJob(tx: SqlTransaction, job: NewJobRow, dueAt?: Date): Promise<JobRow> {
  const { deduplication, priority = 0, lifo, repeat } = job.options;
  const ttlMs = deduplication?.ttl ?? 0;
  const position = dueAt ? dueAt.getTime() / 1000 : tx`extract(epoch from clock_timestamp())`;
  const row = {
    ...job,
    options: tx.json(job.options),
    priority: Math.min(priority, PRIORITY_LIMIT),
    dueAt: repeat ? null : (dueAt ?? tx`clock_timestamp()`),
    position: tx`${lifo ? -1 : 1} * ${position}::float8`,
    deduplicationId: deduplication?.id ?? null,
    deduplicatedUntil: ttlMs > 0 ? tx`clock_timestamp() + make_interval(secs => ${ttlMs / 1000})` : null,
  };
  const [inserted] = await tx<[JobRow]>`insert into jobs ${tx(row as never)} returning *`;
  return inserted;
}

/** Tells a job apart, and the lease under which it may be changed: any when that is left out. */
export type LeasedJobKey = JobKey & { leaseId?: string | null };

/** Changes a job that has not finished; undefined when it has, or when its lease is another's by now. */
export async function updateJob(
  sql: SqlClient | SqlTransaction,
  { locationId, id, leaseId }: LeasedJobKey,
  changes: { [Column in keyof JobRow | "position"]?: unknown },
): Promise<JobRow | undefined> {
  const [job] = await sql<JobRow[]>`
    update jobs set ${sql(changes as never)}
    where location_id = ${locationId} and id = ${id} and finished_at is null
      ${leaseId === undefined ? sql`` : sql`and lease_id is not distinct from ${leaseId}`}
    returning *`;
  return job;
}

export async function deleteJob(tx: SqlTransaction, { locationId, id }: JobKey): Promise<void> {
  await tx`delete from jobs where location_id = ${locationId} and id = ${id}`;
}

/** How many runs of a repeating job have been inserted that have not finished. */
export async function countUnfinishedRuns(tx: SqlTransaction, { locationId, id }: JobKey): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from jobs where location_id = ${locationId} and run_of = ${id}`;
  return row.count;
}

/** A job that is due and waits for no child. The same words as in the indexes. */
const dueCondition = (sql: SqlClient | SqlTransaction) =>
  sql`finished_at is null and pending_children = 0 and due_at <= now()`;
/** A job that was given to the queue a while ago, and has no lease, is one that Redis has lost, or its process. */
const leasedCondition = (sql: SqlClient | SqlTransaction) =>
  sql`greatest(queued_at + interval '3 seconds', held_until) > now()`;

/** Until when the process has a job that begins or goes on with it now; later another may do it. */
export const leaseExpiry = (sql: SqlClient | SqlTransaction) => sql`now() + interval '15 seconds'`;

/** Marks the jobs that are in the queue from now on: those that are due, in their order, so many of a location. */
export async function admitDueJobs(db: Database, maxPerLocation: number): Promise<JobRow[]> {
  const waitingCondition = (sql: SqlClient | SqlTransaction) =>
    sql`${dueCondition(sql)} and ${leasedCondition(sql)} is not true`;
  const [due] = await db.sql`select 1 from jobs where ${waitingCondition(db.sql)} limit 1`;
  if (!due) return [];
  return db.transaction(async (tx) => {
    // Two processes that count at the same time would admit too many, and not in their order.
    await lockUntilCommit(tx, db, "admit jobs");
    return tx<JobRow[]>`
      update jobs set queued_at = now()
      from (select distinct location_id as id from jobs where ${dueCondition(tx)}) location, lateral (
        select waiting.location_id, waiting.id from jobs as waiting
        where waiting.location_id = location.id and ${waitingCondition(tx)}
        order by priority, position
        limit greatest(0, ${maxPerLocation} - (
          select count(*) from jobs as taken
          where taken.location_id = location.id and finished_at is null and queued_at is not null and ${leasedCondition(tx)}))
      ) as admitted
      where jobs.location_id = admitted.location_id and jobs.id = admitted.id
      returning jobs.*`;
  });
}

/** Acquires the lease of a job that was given to the queue, unless another process has it. */
export async function acquireJobLease(tx: SqlTransaction, { locationId, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update jobs set held_until = ${leaseExpiry(tx)}, lease_id = gen_random_uuid()
    where location_id = ${locationId} and id = ${id} and finished_at is null and queued_at is not null
      and coalesce(held_until < now(), true)
    returning *`;
  return job;
}
