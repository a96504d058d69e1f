import type { JobOptions, JobResult } from "@pragma/contracts/job";
import { advisoryLockKey, type Sql, type Transaction } from "@pragma/runtime/postgres";

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
  deduplication_id: string | null;
  deduplicated_until: Date | null;
  queued_at: Date | null;
  held_until: Date | null;
  attempts_made: number;
  is_performed: boolean;
  progress: number;
  runs: number;
  last_due: number | null;
  result: JobResult | null;
  failure: string | null;
  outcome: "completed" | "failed" | null;
  finished_at: Date | null;
  /** Of the request for it (W3C). */
  traceparent: string | null;
}

/** A job as it comes in. */
export interface NewJobRow
  extends Pick<
    JobRow,
    "location_id" | "id" | "key_id" | "consumer" | "message" | "duration" | "options" | "traceparent"
  > {
  /** Now when it is left out. */
  timestamp: number | undefined;
}

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
    select count(*) from jobs where key_id = ${keyId} and finished_at is null`;
  return row?.count ?? 0;
}

/** The location's unfinished jobs, and those of them that repeat. */
export async function countOfLocation(
  tx: Transaction,
  locationId: string,
): Promise<{ unfinished: number; repeating: number }> {
  const [row] = await tx<{ unfinished: number; repeating: number }[]>`
    select count(*) as unfinished, count(*) filter (where options ? 'repeat') as repeating
    from jobs where location_id = ${locationId} and finished_at is null`;
  return row ?? { unfinished: 0, repeating: 0 };
}

/** Counts one more child of a job; false when it has `maximum` already. */
export async function countChild(tx: Transaction, { location_id, id }: JobKey, maximum: number): Promise<boolean> {
  const { count } = await tx`
    update jobs set children = children + 1
    where location_id = ${location_id} and id = ${id} and children < ${maximum}`;
  return count > 0;
}

export async function countAllUnfinished(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*) from jobs where finished_at is null`;
  return row?.count ?? 0;
}

export async function insertJob(tx: Transaction, { options, timestamp, ...job }: NewJobRow): Promise<JobRow> {
  const { id = null, ttl = 0 } = options.deduplication ?? {};
  const [inserted] = await tx<JobRow[]>`
    insert into jobs ${tx({ ...job, options: tx.json(options), deduplication_id: id, timestamp: timestamp ?? Date.now() })}
    returning *`;
  if (!inserted) throw new Error("A job was inserted and is not there.");
  if (id === null || ttl === 0) return inserted;
  const [limited] = await tx<JobRow[]>`
    update jobs set deduplicated_until = clock_timestamp() + make_interval(secs => ${ttl / 1000})
    where location_id = ${job.location_id} and id = ${job.id} returning *`;
  return limited ?? inserted;
}
