import type { SqlClient } from "@pragma/runtime/database/postgres";

/** How far the reports from before the change feed have been added to the feed. */
export interface ReportBackfill {
  startedAt: Date;
  /** 1: all reports. 2: the reports that were stored since the start, of which an earlier version handled the events. */
  pass: number;
  locationId: string | null;
  reportId: string | null;
}

/** Returns the progress; undefined when the backfill has finished, or when its second pass is not due yet. */
export async function findDueReportBackfill(
  sql: SqlClient,
  { secondPassAfterSeconds }: { secondPassAfterSeconds: number },
): Promise<ReportBackfill | undefined> {
  const [row] = await sql<ReportBackfill[]>`
    select started_at, pass, location_id, report_id from report_backfill
    where finished_at is null
      and (pass = 1 or started_at < now() - make_interval(secs => ${secondPassAfterSeconds}))`;
  return row;
}

/** Records the position after a batch of `added` reports. Without a position, the pass has ended. */
export async function updateReportBackfill(
  sql: SqlClient,
  { pass }: Pick<ReportBackfill, "pass">,
  { next, added }: { next: { locationId: string; reportId: string } | null; added: number },
): Promise<void> {
  const isFinished = next === null && pass === 2;
  await sql`
    update report_backfill set
      pass = ${next === null ? 2 : pass}, location_id = ${next?.locationId ?? null},
      report_id = ${next?.reportId ?? null}, added = added + ${added},
      finished_at = case when ${isFinished} then now() end
    where pass = ${pass}`;
}
