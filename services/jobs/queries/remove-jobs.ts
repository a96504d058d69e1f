import type { SqlClient, SqlTransaction } from "@pragma/runtime/database/postgres";
import { deleteRowsInBatches } from "@pragma/runtime/service/remove-expired-rows";
import type { JobsServiceConfig } from "../config.ts";
import { deleteJobRow, type JobRow } from "./jobs.ts";

/** 100 years, in seconds. Larger values of the option `age` are reduced to this number, so that the date is valid. */
const maxAgeSeconds = 100 * 365 * 24 * 60 * 60;

/** Applies a job's removeOnComplete or removeOnFail option to the location's finished jobs with the same outcome. */
export async function deleteJobRowsExceedingRetention(
  tx: SqlTransaction,
  { locationId, id, options }: JobRow,
  outcome: NonNullable<JobRow["outcome"]>,
): Promise<void> {
  const retention = (outcome === "completed" ? options.removeOnComplete : options.removeOnFail) ?? false;
  if (retention === false) return;
  const {
    age,
    count,
    limit = 1_000,
  } = typeof retention === "object" ? retention : { count: Number(retention !== true && retention) };
  if (count === 0) return deleteJobRow(tx, { locationId, id });
  const sameOutcomeCondition = tx`location_id = ${locationId} and outcome = ${outcome}`;
  if (age !== undefined) {
    const olderCondition = tx`finished_at <= now() - make_interval(secs => ${Math.min(age, maxAgeSeconds)})`;
    const old = tx`
      select location_id, id from location_jobs where ${sameOutcomeCondition} and id <> ${id} and ${olderCondition}
      order by finished_at limit ${limit}`;
    await tx`delete from location_jobs where (location_id, id) in (${old})`;
  }
  if (count !== undefined) {
    const excess = tx`
      select location_id, id from location_jobs where ${sameOutcomeCondition}
      order by finished_at desc, created_at desc offset ${count}`;
    await tx`delete from location_jobs where (location_id, id) in (${excess})`;
  }
}

/** Removes jobs that finished before the retention period, and each location's oldest ones beyond the maximum. */
export async function deleteOldFinishedJobRows(
  sql: SqlClient,
  { JOBS_RETENTION_DAYS: retentionDays, JOBS_MAX_RETAINED_PER_LOCATION: maxPerLocation }: JobsServiceConfig,
): Promise<void> {
  await deleteRowsInBatches(sql, "location_jobs", sql`finished_at < now() - make_interval(days => ${retentionDays})`);
  const excess = sql`
    select location_id, id from (
      select location_id, id, row_number() over (partition by location_id order by finished_at desc) as row_number
      from location_jobs
      where finished_at is not null and location_id in (
        select location_id from location_jobs where finished_at is not null
        group by location_id having count(*) > ${maxPerLocation})
    ) as finished
    where row_number > ${maxPerLocation}`;
  await deleteRowsInBatches(sql, "location_jobs", sql`(location_id, id) in (${excess})`);
}
