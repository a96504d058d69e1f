import type { KeepFinished } from "@pragma/contracts/job-repeat";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import { deleteJob, type JobKey, type JobRow } from "./jobs.ts";

/** A hundred years, in seconds: an age that no job reaches, and that a date can be before another by. */
const beyondAnyAge = 100 * 365 * 24 * 60 * 60;

/** Forgets what need not be kept now that this job has finished: the rule of removeOnComplete or removeOnFail. */
export async function forgetFinished(
  tx: Transaction,
  { location_id, id }: JobKey,
  { outcome, keep }: { outcome: NonNullable<JobRow["outcome"]>; keep: KeepFinished | undefined },
): Promise<void> {
  const { age, count, limit = 1_000 } = ruleOf(keep);
  if (count === 0) {
    await deleteJob(tx, { location_id, id });
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
