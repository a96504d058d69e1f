import type { JobResult } from "@pragma/contracts/job";
import type { KeepFinished } from "@pragma/contracts/job-repeat";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { JobKey, JobRow } from "./jobs.ts";

/** Takes hold of an unfinished job for so many seconds, unless somebody else has hold of it. */
export async function holdJob(sql: Sql, { location_id, id }: JobKey, seconds: number): Promise<JobRow | undefined> {
  const [job] = await sql<JobRow[]>`
    update jobs set held_until = now() + make_interval(secs => ${seconds})
    where location_id = ${location_id} and id = ${id} and finished_at is null
      and (held_until is null or held_until < now())
    returning *`;
  return job;
}

/** Keeps hold of a job, and notes how far it is. */
export async function keepHold(
  sql: Sql,
  { location_id, id }: JobKey,
  { seconds, progress }: { seconds: number; progress: number },
): Promise<void> {
  await sql`
    update jobs set held_until = now() + make_interval(secs => ${seconds}), progress = ${progress}
    where location_id = ${location_id} and id = ${id} and finished_at is null`;
}

/** Lets go of a job that has not finished; `isPerformed` when all is done but to wait for its children. */
export async function letGo(
  sql: Sql,
  { location_id, id }: JobKey,
  { isPerformed = false, attemptFailed }: { isPerformed?: boolean; attemptFailed?: string } = {},
): Promise<void> {
  const failed = attemptFailed !== undefined;
  await sql`
    update jobs set
      held_until = null, progress = 0, is_performed = is_performed or ${isPerformed}, attempts_made = attempts_made + ${failed ? 1 : 0},
      failure = ${failed ? attemptFailed : sql`failure`}
    where location_id = ${location_id} and id = ${id} and finished_at is null`;
}

/** What a job came to. */
export type Outcome = { outcome: "completed"; result: JobResult } | { outcome: "failed"; failure: string };

/** Notes what an unfinished job came to; whether that had not been noted before. */
export async function noteOutcome(tx: Transaction, { location_id, id }: JobKey, given: Outcome): Promise<boolean> {
  const { count } = await tx`
    update jobs set
      outcome = ${given.outcome}, finished_at = now(), held_until = null,
      ${
        given.outcome === "completed"
          ? tx`result = ${tx.json({ ...given.result })}, failure = null, progress = 100`
          : tx`failure = ${given.failure}, attempts_made = attempts_made + 1`
      }
    where location_id = ${location_id} and id = ${id} and finished_at is null`;
  return count > 0;
}

/** Notes that a repeating job was done, or failed, when it was due; the same time twice is noted once. */
export async function noteRun(
  tx: Transaction,
  { location_id, id }: JobKey,
  { due, given }: { due: number; given: Outcome },
): Promise<JobRow | undefined> {
  const [job] = await tx<JobRow[]>`
    update jobs set
      runs = runs + 1, last_due = greatest(last_due, ${due}::bigint),
      ${given.outcome === "completed" ? tx`result = ${tx.json({ ...given.result })}, failure = null` : tx`failure = ${given.failure}`}
    where location_id = ${location_id} and id = ${id} and finished_at is null and last_due is distinct from ${due}
    returning *`;
  return job;
}

/** Ends a repeating job. */
export async function endRepeating(tx: Transaction, { location_id, id }: JobKey): Promise<void> {
  await tx`
    update jobs set
      outcome = case when failure is null then 'completed' else 'failed' end, progress = 100, finished_at = now()
    where location_id = ${location_id} and id = ${id} and finished_at is null`;
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
