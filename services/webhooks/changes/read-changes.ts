import type { ChangeAction, ChangeType } from "@pragma/contracts/changes";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { type ChangeRow, type ChangeRowType, findChangeRowsFrom, findLastChangePosition } from "../queries/changes.ts";
import type { ChangeCursor } from "./change-cursor.ts";

/** An entry of the change feed, with the cursor after it. */
interface ChangeEntry {
  type: ChangeType;
  action: ChangeAction;
  id: string;
  revision: number;
  changedAt: Date;
  next: ChangeCursor;
}

export interface ChangeEntriesPage {
  entries: ChangeEntry[];
  next: ChangeCursor;
  hasMore: boolean;
}

/** Bounds the memory of one page, because a till can have thousands of orders. */
const maxRowsWithOrders = 100;

/**
 * Returns up to `size` entries from a cursor on. Undefined if the location has no feed yet.
 *
 * Nothing is lost while rows move: every transaction that takes a position holds the lock of the feed until it ends, so a
 * statement that sees a position sees all lower ones, unless their rows have moved to a higher position, where a later
 * page contains them.
 */
export async function readChangeEntries(
  sql: SqlClient,
  { locationId, after, types, size }: { locationId: string; after: ChangeCursor; types: ChangeType[]; size: number },
): Promise<ChangeEntriesPage | undefined> {
  // Read before the rows, so that the rows up to this position are certainly included.
  const lastPosition = await findLastChangePosition(sql, locationId);
  if (lastPosition === undefined) return undefined;
  const hasOrders = types.includes("order");
  const rowTypes = [...new Set(types.map((type): ChangeRowType => (type === "order" ? "report" : type)))];
  const limit = Math.min(size, hasOrders ? maxRowsWithOrders : size) + 1;
  const rows = await findChangeRowsFrom(sql, {
    locationId,
    position: after.position,
    types: rowTypes,
    hasOrders,
    limit,
  });

  const entries: ChangeEntry[] = [];
  for (const row of rows.slice(0, limit - 1)) {
    const alreadyReturned = row.position === after.position ? after.offset : 0;
    for (const entry of expandChangeRow(row).slice(alreadyReturned)) {
      if (!types.includes(entry.type)) continue;
      if (entries.length === size) return { entries, next: entries.at(-1)?.next ?? after, hasMore: true };
      entries.push(entry);
    }
  }
  const lastRow = rows.at(-1);
  if (rows.length === limit && lastRow)
    return { entries, next: { position: lastRow.position, offset: 0 }, hasMore: true };
  const end = Math.max(lastPosition, lastRow?.position ?? 0) + 1;
  return { entries, next: { position: Math.max(end, after.position), offset: 0 }, hasMore: false };
}

/** Returns the entries of a row: that of the report, catalog or location, and those of the orders of a report. */
function expandChangeRow(row: ChangeRow): ChangeEntry[] {
  const { type, id, position, revision, changedAt } = row;
  const action: ChangeAction = row.action === "expired" ? "removed" : row.action;
  const things: Pick<ChangeEntry, "type" | "action" | "id">[] = [
    { type, id, action },
    ...row.orderIds.map((id) => ({ type: "order" as const, id, action })),
    ...row.reassignedOrderIds.map((id) => ({ type: "order" as const, id, action: "replaced" as const })),
    ...row.removedOrderIds.map((id) => ({ type: "order" as const, id, action: "removed" as const })),
  ];
  return things.map((thing, index) => {
    const isLast = index === things.length - 1;
    const next = isLast ? { position: position + 1, offset: 0 } : { position, offset: index + 1 };
    return { ...thing, revision, changedAt, next };
  });
}
