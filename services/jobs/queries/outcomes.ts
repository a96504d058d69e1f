import type { JobResult } from "@pragma/contracts/job";
import type { KeepFinished } from "@pragma/contracts/job-repeat";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./jobs.ts";

/** What a job came to. */
export type Outcome = { outcome: "completed"; result: JobResult } | { outcome: "failed"; failure: string };

/** Locks a job until the transaction ends; undefined when it has finished. */
export async function lockUnfinished(tx: Transaction, { location_id, id }: JobKey): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    select * from jobs where location_id = ${location_id} and id = ${id} and finished_at is null for update`;
  return job;
}

/** Records that all is done of a job but to wait for its children. */
export async function recordPerformed(tx: Transaction, { location_id, id }: JobKey): Promise<void> {
  await tx`
    update jobs set is_performed = true, held_until = null, queued_at = null, progress = 0
    where location_id = ${location_id} and id = ${id}`;
}

export async function recordOutcome(tx: Transaction, { location_id, id }: JobKey, given: Outcome): Promise<void> {
  await tx`
    update jobs set
      outcome = ${given.outcome}, finished_at = now(), held_until = null,
      ${
        given.outcome === "completed"
          ? tx`result = ${tx.json({ ...given.result })}, failure = null, progress = 100`
          : tx`failure = ${given.failure}, attempts_made = attempts_made + 1`
      }
    where location_id = ${location_id} and id = ${id}`;
}

/** Has a parent wait for one child fewer; undefined when it has finished. */
export async function releaseParent(tx: Transaction, { location_id, id }: JobKey): Promise<JobRow | undefined> {
  const [parent] = await tx<JobRow[]>`
    update jobs set pending_children = greatest(0, pending_children - 1)
    where location_id = ${location_id} and id = ${id} and finished_at is null
    returning *`;
  return parent;
}

/** Records what a run came to with its repeating job, and deletes the run. */
export async function recordRun(tx: Transaction, run: JobRow, given: Outcome): Promise<void> {
  await tx`
    update jobs set
      runs = runs + 1,
      ${given.outcome === "completed" ? tx`result = ${tx.json({ ...given.result })}, failure = null` : tx`failure = ${given.failure}`}
    where location_id = ${run.location_id} and id = ${run.run_of}`;
  await tx`delete from jobs where location_id = ${run.location_id} and id = ${run.id}`;
}

/** Ends a repeating job that has no run left. */
export async function endRepeating(tx: Transaction, { location_id, id }: JobKey): Promise<void> {
  await tx`
    update jobs set
      outcome = case when failure is null then 'completed' else 'failed' end, progress = 100, finished_at = now()
    where location_id = ${location_id} and id = ${id} and finished_at is null
      and not exists (select 1 from jobs as run where run.location_id = ${location_id} and run.run_of = ${id})`;
}

/** A hundred years, in seconds: an age that no job reaches, and that a date can be before another by. */
const beyondAnyAge = 100 * 365 * 24 * 60 * 60;

/** Forgets what need not be kept now that this job has finished: the rule by which its queue forgets. */
export async function forgetFinished(
  tx: Transaction,
  { location_id, id, outcome }: JobKey & Pick<Outcome, "outcome">,
  keep: KeepFinished | undefined,
): Promise<void> {
  const { age, count, limit = 1_000 } = ruleOf(keep);
  if (count === 0) {
    await tx`delete from jobs where location_id = ${location_id} and id = ${id}`;
    return;
  }
  if (age !== undefined) {
    await tx`
      delete from jobs where (location_id, id) in (
        select location_id, id from jobs
        where location_id = ${location_id} and outcome = ${outcome}
          and finished_at <= now() - make_interval(secs => ${Math.min(age, beyondAnyAge)}) and id <> ${id}
        order by finished_at limit ${limit})`;
  }
  if (count !== undefined) {
    await tx`
      delete from jobs where (location_id, id) in (
        select location_id, id from jobs where location_id = ${location_id} and outcome = ${outcome}
        order by finished_at desc, created_at desc offset ${count})`;
  }
}

function ruleOf(keep: KeepFinished | undefined): {
  age?: number | undefined;
  count?: number | undefined;
  limit?: number | undefined;
} {
  if (typeof keep === "object") return keep;
  if (typeof keep === "number") return { count: keep };
  return keep ? { count: 0 } : {};
}

/** Forgets jobs that finished more than so many days ago; how many. */
export async function forgetOld(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const { count } = await sql`
    delete from jobs where (location_id, id) in (
      select location_id, id from jobs where finished_at < now() - make_interval(days => ${days}) limit ${limit})`;
  return count;
}

/** Forgets finished jobs of locations that have more than so many, the oldest; how many. */
export async function forgetExcess(
  sql: Sql,
  { perLocation, limit }: { perLocation: number; limit: number },
): Promise<number> {
  const { count } = await sql`
    delete from jobs where (location_id, id) in (
      select location_id, id from (
        select location_id, id, row_number() over (partition by location_id order by finished_at desc) as place
        from jobs
        where finished_at is not null and location_id in (
          select location_id from jobs where finished_at is not null group by location_id having count(*) > ${perLocation})
      ) as finished
      where place > ${perLocation} limit ${limit})`;
  return count;
}
