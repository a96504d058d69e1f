import { type Database, runAfterCommit, type SqlTransaction } from "@pragma/runtime/database/postgres";
import {
  type ChangeRow,
  type ChangeRowType,
  findChangeRow,
  findOrderIdsInOtherReports,
  lockChangeFeed,
  upsertLastChangeRow,
} from "../queries/changes.ts";
import type { ChangeWaiters } from "./change-waiters.ts";

interface ReportChange {
  locationId: string;
  reportId: string;
  revision: number;
  /** `stored`: the report was computed. `erased`: the same, after personal data was erased. */
  kind: "stored" | "erased" | "removed" | "expired";
  changedAt: string;
  orderIds: string[];
}

interface ChangeFeedServices {
  db: Database;
  changeWaiters: Pick<ChangeWaiters, "notify">;
}

/**
 * Moves a report and its orders to the end of the location's change feed. Does nothing if the feed already has this or a
 * later revision, so that an event that arrives again or late has no effect.
 */
export async function recordReportChange(
  { db, changeWaiters }: ChangeFeedServices,
  change: ReportChange,
): Promise<boolean> {
  const { locationId, reportId, revision, kind, changedAt, orderIds } = change;
  return db.transaction(async (tx) => {
    const feed = await lockChangeFeed(tx, locationId);
    const previous = await findChangeRow(tx, { locationId, type: "report", id: reportId });
    if (previous && !isLaterChange(change, previous)) return false;
    const wasPresent = previous && previous.action !== "removed" && previous.action !== "expired";
    const present = new Set(orderIds);
    const missingOrderIds = previous
      ? [...previous.orderIds, ...previous.reassignedOrderIds, ...previous.removedOrderIds].filter(
          (id) => !present.has(id),
        )
      : [];
    const idsInOtherReports = await findOrderIdsInOtherReports(tx, { locationId, reportId, orderIds: missingOrderIds });
    const position = feed.position + 1;
    await upsertLastChangeRow(tx, feed, {
      ...{ type: "report", id: reportId, revision, orderIds, position, changedAt: new Date(changedAt) },
      action: kind !== "stored" ? kind : wasPresent ? "replaced" : "created",
      reassignedOrderIds: missingOrderIds.filter((id) => idsInOtherReports.has(id)),
      removedOrderIds: missingOrderIds.filter((id) => !idsInOtherReports.has(id)),
    });
    runAfterCommit(tx, () => changeWaiters.notify(locationId, position));
    return true;
  });
}

/**
 * Returns whether a change comes after what the feed has. An expired till has no revision any more, so that only the time
 * tells whether it was pushed again. An expiration removes the revision that the feed has.
 */
function isLaterChange({ revision, kind, changedAt }: ReportChange, previous: ChangeRow): boolean {
  if (previous.action === "expired") return kind !== "expired" && new Date(changedAt) > previous.changedAt;
  return revision > previous.revision || (kind === "expired" && revision === previous.revision);
}

interface SingleChange {
  locationId: string;
  type: Exclude<ChangeRowType, "report">;
  id: string;
  changedAt: string;
}

/** Moves the catalog or the data of a location, or an e-report of its business, to the end of its change feed. */
export async function recordChange(
  tx: SqlTransaction,
  { changeWaiters }: Pick<ChangeFeedServices, "changeWaiters">,
  { locationId, type, id, changedAt }: SingleChange,
): Promise<void> {
  const feed = await lockChangeFeed(tx, locationId);
  const previous = await findChangeRow(tx, { locationId, type, id });
  const position = feed.position + 1;
  await upsertLastChangeRow(tx, feed, {
    ...{ type, id, position, changedAt: new Date(changedAt) },
    ...{ action: previous ? "replaced" : "created", revision: (previous?.revision ?? 0) + 1 },
    ...{ orderIds: [], reassignedOrderIds: [], removedOrderIds: [] },
  });
  runAfterCommit(tx, () => changeWaiters.notify(locationId, position));
}
