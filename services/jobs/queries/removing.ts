import { removeRows } from "@pragma/runtime/periodic";
import type { Sql, Transaction } from "@pragma/runtime/postgres";
import type { JobsConfig } from "../jobs.ts";
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
    const isOlder = tx`finished_at <= now() - make_interval(secs => ${Math.min(age, beyondAnyAge)})`;
    const old = tx`
      select location_id, id from jobs where ${isAlike} and id <> ${id} and ${isOlder}
      order by finished_at limit ${limit}`;
    await tx`delete from jobs where (location_id, id) in (${old})`;
  }
  if (count !== undefined) {
    const excess = tx`
      select location_id, id from jobs where ${isAlike} order by finished_at desc, created_at desc offset ${count}`;
    await tx`delete from jobs where (location_id, id) in (${excess})`;
  }
}

/** Removes jobs that finished long ago, and the oldest of locations that have too many. */
export async function removeOldJobs(
  sql: Sql,
  { JOBS_KEPT_DAYS: days, JOBS_KEPT_PER_LOCATION: perLocation }: JobsConfig,
): Promise<void> {
  await removeRows(sql, "jobs", sql`finished_at < now() - make_interval(days => ${days})`);
  const excess = sql`
    select location_id, id from (
      select location_id, id, row_number() over (partition by location_id order by finished_at desc) as place
      from jobs
      where finished_at is not null and location_id in (
        select location_id from jobs where finished_at is not null group by location_id having count(*) > ${perLocation})
    ) as finished
    where place > ${perLocation}`;
  await removeRows(sql, "jobs", sql`(location_id, id) in (${excess})`);
}
