import type { JobOptions, JobResult } from "@pragma/contracts/job";
import {
  type Database,
  lockInTransaction,
  type SqlClient,
  type SqlTransaction,
} from "@pragma/runtime/database/postgres";
import { PRIORITY_LIMIT } from "bullmq";

export interface JobPrimaryKey {
  locationId: string;
  id: string;
}

/** A row of the table of jobs. The migration describes its columns. */
export interface JobRow extends JobPrimaryKey {
  keyId: string;
  consumer: string;
  message: string;
  duration: number;
  options: JobOptions;
  timestamp: number;
  createdAt: Date;
  dueAt: Date | null;
  priority: number;
  queuedAt: Date | null;
  leaseExpiresAt: Date | null;
  leaseId: string | null;
  attemptsMade: number;
  isWorkDone: boolean;
  totalChildren: number;
  pendingChildren: number;
  progress: number;
  runs: number;
  lastDueMs: number | null;
  repeatingJobId: string | null;
  result: JobResult | null;
  failure: string | null;
  outcome: "completed" | "failed" | null;
  finishedAt: Date | null;
  traceparent: string | null;
}

type NewJobRow = JobPrimaryKey &
  Pick<JobRow, "keyId" | "consumer" | "message" | "duration" | "options" | "traceparent" | "timestamp"> & {
    repeatingJobId?: string;
  };

/**
 * Returns the SQL columns of a job. Queries do not select `*`, because a prepared statement with `*` fails once per
 * connection of a running instance after a migration has added a column.
 */
export const jobColumns = (sql: SqlClient | SqlTransaction) => sql`
  location_id, id, key_id, consumer, message, duration, options, timestamp, created_at, due_at, priority, queued_at,
  lease_expires_at, lease_id, attempts_made, is_work_done, total_children, pending_children, progress, runs,
  last_due_ms, repeating_job_id, result, failure, outcome, finished_at, traceparent`;

export async function lockJobRow(tx: SqlTransaction, { locationId, id }: JobPrimaryKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select ${jobColumns(tx)} from location_jobs where location_id = ${locationId} and id = ${id} for update`;
  return job;
}

/**
 * Inserts a job, or a run of a repeating job, that is due at `dueAt`. By default, the job is due immediately. A
 * repeating job itself is never due, because its runs are separate rows.
 */
export async function insertJob(tx: SqlTransaction, job: NewJobRow, dueAt?: Date): Promise<JobRow> {
  const { deduplication, priority = 0, lifo, repeat } = job.options;
  const ttlMs = deduplication?.ttl ?? 0;
  const dueSeconds = dueAt ? dueAt.getTime() / 1000 : tx`extract(epoch from clock_timestamp())`;
  const row = {
    ...job,
    options: tx.json(job.options),
    priority: Math.min(priority, PRIORITY_LIMIT),
    dueAt: repeat ? null : (dueAt ?? tx`clock_timestamp()`),
    sortPosition: tx`${lifo ? -1 : 1} * ${dueSeconds}::float8`,
    deduplicationId: deduplication?.id ?? null,
    deduplicatedUntil: ttlMs > 0 ? tx`clock_timestamp() + make_interval(secs => ${ttlMs / 1000})` : null,
  };
  const [inserted] = await tx<[JobRow]>`
    insert into location_jobs ${tx(row as never)} returning ${jobColumns(tx)}`;
  return inserted;
}

/** A job's primary key and the caller's lease id. Without a lease id, changes apply even if the caller has no lease. */
export type JobKeyWithOptionalLease = JobPrimaryKey & { leaseId?: string | null };

/**
 * Changes a job and returns the job. Changes nothing and returns undefined if there is no such unfinished job, or if
 * `leaseId` is given but is not the job's latest lease.
 */
export async function updateUnfinishedJobRow(
  sql: SqlClient | SqlTransaction,
  { locationId, id, leaseId }: JobKeyWithOptionalLease,
  changes: { [Column in keyof JobRow | "sortPosition"]?: unknown },
): Promise<JobRow | undefined> {
  const [job] = await sql<JobRow[]>`
    update location_jobs set ${sql(changes as never)}
    where location_id = ${locationId} and id = ${id} and finished_at is null
      ${leaseId === undefined ? sql`` : sql`and lease_id is not distinct from ${leaseId}`}
    returning ${jobColumns(sql)}`;
  return job;
}

export async function deleteJobRow(tx: SqlTransaction, { locationId, id }: JobPrimaryKey): Promise<void> {
  await tx`delete from location_jobs where location_id = ${locationId} and id = ${id}`;
}

/** Counts the unfinished runs of a repeating job, which are all stored runs, because finished runs are deleted. */
export async function countUnfinishedRuns(tx: SqlTransaction, { locationId, id }: JobPrimaryKey): Promise<number> {
  const [row] = await tx<[{ count: number }]>`
    select count(*) from location_jobs where location_id = ${locationId} and repeating_job_id = ${id}`;
  return row.count;
}

/**
 * Returns the SQL condition for jobs that are due and wait for no child. It must include the condition of the partial
 * indexes, because PostgreSQL could not use these indexes otherwise. Does not use `now()`, the start of the transaction,
 * because jobs that are created while the transaction waits for a lock would not be due, and others would precede them.
 */
const dueCondition = (sql: SqlClient | SqlTransaction) =>
  sql`finished_at is null and pending_children = 0 and due_at <= statement_timestamp()`;
/**
 * Returns the SQL condition for jobs that are in BullMQ. A job is presumed lost, and does not match, if it was queued
 * more than 3 seconds ago and no process holds an unexpired lease of the job.
 */
const inQueueCondition = (sql: SqlClient | SqlTransaction) => sql`${inQueueUntil(sql)} > statement_timestamp()`;
const inQueueUntil = (sql: SqlClient | SqlTransaction) =>
  sql`greatest(queued_at + interval '3 seconds', lease_expires_at)`;

/** Returns the SQL expression for the expiry time of a lease that is acquired or renewed now. */
export const newJobLeaseExpirySql = (sql: SqlClient | SqlTransaction) => sql`now() + interval '15 seconds'`;

/** Marks and returns due jobs, by priority and position, until each location has `maxPerLocation` queued jobs. */
export async function markDueJobsAsQueued(db: Database, maxPerLocation: number): Promise<JobRow[]> {
  const waitingCondition = (sql: SqlClient | SqlTransaction) =>
    sql`${dueCondition(sql)} and ${inQueueCondition(sql)} is not true`;
  const [due] = await db.sql`select 1 from location_jobs where ${waitingCondition(db.sql)} limit 1`;
  if (!due) return [];
  return db.transaction(async (tx) => {
    // Without this lock, two processes that count at the same time would admit too many jobs, in the wrong sequence.
    await lockInTransaction(tx, db, "admit jobs");
    return tx<JobRow[]>`
      update location_jobs as job set queued_at = statement_timestamp()
      from (select distinct location_id from location_jobs where ${dueCondition(tx)}) location (due_location_id), lateral (
        select location_id, id from location_jobs
        where location_id = due_location_id and ${waitingCondition(tx)}
        order by priority, sort_position
        limit greatest(0, ${maxPerLocation} - (
          select count(*) from location_jobs
          where location_id = due_location_id and finished_at is null and queued_at is not null and ${inQueueCondition(tx)}))
      ) as admitted (admitted_location_id, admitted_id)
      where job.location_id = admitted_location_id and job.id = admitted_id
      returning ${jobColumns(tx)}`;
  });
}

/** Returns in how many milliseconds a job is due, or a job in BullMQ is presumed lost; undefined if there is none. */
export async function findNextDueMs(sql: SqlClient): Promise<number | undefined> {
  const [next] = await sql<[{ dueMs: number | null }]>`
    select extract(epoch from least(
      (select due_at from location_jobs
       where finished_at is null and pending_children = 0 and due_at > statement_timestamp() order by due_at limit 1),
      (select min(${inQueueUntil(sql)}) from location_jobs where finished_at is null and queued_at is not null)
    ) - clock_timestamp())::float8 * 1000 as due_ms`;
  return next.dueMs ?? undefined;
}
