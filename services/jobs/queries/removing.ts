import type { Sql, Transaction } from "@pragma/runtime/postgres";
import { deleteJob, type JobRow } from "./jobs.ts";

/** A hundred years, in seconds: an age that no job reaches, and that a date can be before another by. */
const beyondAnyAge = 100 * 365 * 24 * 60 * 60;

/** Removes what need not be kept now that this job has finished: the rule of removeOnComplete or removeOnFail. */
export async function removeFinished(
  tx: Transaction,
  { locationId, id, options }: JobRow,
  outcome: NonNullable<JobRow["outcome"]>,
): Promise<void> {
  const keep = (outcome === "completed" ? options.removeOnComplete : options.removeOnFail) ?? false;
  if (keep === false) return;
  const { age, count, limit = 1_000 } = typeof keep === "object" ? keep : { count: Number(keep !== true && keep) };
  if (count === 0) return deleteJob(tx, { locationId, id });
  const isAlike = tx`location_id = ${locationId} and outcome = ${outcome}`;
  if (age !== undefined) {
    await tx`
      delete from jobs where (location_id, id) in (
        select location_id, id from jobs
        where ${isAlike} and id <> ${id} and finished_at <= now() - make_interval(secs => ${Math.min(age, beyondAnyAge)})
        order by finished_at limit ${limit})`;
  }
  if (count !== undefined) {
    await tx`
      delete from jobs where (location_id, id) in (
        select location_id, id from jobs where ${isAlike}
        order by finished_at desc, created_at desc offset ${count})`;
  }
}

/** Removes jobs that finished more than so many days ago; how many. */
export async function removeOld(sql: Sql, { days, limit }: { days: number; limit: number }): Promise<number> {
  const { count } = await sql`
    delete from jobs where (location_id, id) in (
      select location_id, id from jobs where finished_at < now() - make_interval(days => ${days}) limit ${limit})`;
  return count;
}

/** Removes finished jobs of locations that have more than so many, the oldest; how many. */
export async function removeExcess(
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
