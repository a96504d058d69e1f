import type { Reprocessing } from "@pragma/contracts/reprocessing";
import type { ReprocessingRow } from "./queries/reprocessings.ts";

/** A reprocessing as replies show it. */
export function reprocessingReply(row: ReprocessingRow): Reprocessing {
  return {
    id: row.id,
    locationId: row.location_id,
    lteReportVersion: row.lte_report_version,
    total: row.total,
    done: row.done,
    createdAt: row.created_at.toISOString(),
    finishedAt: row.finished_at?.toISOString() ?? null,
  };
}
