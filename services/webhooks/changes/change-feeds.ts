import type { ChangeAction, ChangeType } from "@pragma/contracts/changes";
import type { ChangeRowEntries, ChangeRowRange, FoundChangeRows } from "../queries/changes.ts";
import type { ChangeCursor } from "./change-cursor.ts";

/**
 * The feed of a location, or of all locations.
 *
 * Nothing is lost while rows move: every transaction that takes a position holds the lock of the feed until it ends, so a
 * statement that sees a position sees all lower ones, unless their rows have moved to a higher position, where a later
 * page contains them.
 */
export interface ChangeFeed {
  /** The id in the checksum of cursors. */
  id: string;
  /** The last position when the feed was opened. */
  lastPosition: number;
  /** What requests wait for: the id of the location, or `allLocations`. */
  waitKey: string;
  findLastPosition(): Promise<number>;
  findRows(range: ChangeRowRange): Promise<FoundChangeRows>;
}

/** An entry of the change feed, with the cursor after it. */
interface ChangeEntry extends Pick<ChangeRowEntries, "locationId" | "id" | "revision" | "changedAt"> {
  type: ChangeType;
  action: ChangeAction;
  next: ChangeCursor;
}

export interface ChangeEntriesPage {
  entries: ChangeEntry[];
  next: ChangeCursor;
  hasMore: boolean;
}

/** The maximum number of rows of the feed that are read for one page with orders. */
const maxRowsWithOrders = 100;

/** Returns up to `size` entries of a feed from a cursor on. */
export async function readChangeEntries(
  feed: ChangeFeed,
  { after, types, size }: { after: ChangeCursor; types: ChangeType[]; size: number },
): Promise<ChangeEntriesPage> {
  const hasOrders = types.includes("order");
  const rowTypes = [...new Set(types.map((type) => (type === "order" ? "report" : type)))];
  const limit = Math.min(size, hasOrders ? maxRowsWithOrders : size) + 1;
  // Read before the rows, so that the rows up to this position are certainly included.
  const lastPosition = await feed.findLastPosition();
  const { positions, rows } = await feed.findRows({ ...after, size, types: rowTypes, hasOrders, limit });
  const entries: ChangeEntry[] = [];
  for (const row of rows) {
    const alreadyReturned = row.position === after.position ? after.offset : 0;
    for (const entry of expandChangeRow(row, alreadyReturned)) {
      if (!types.includes(entry.type)) continue;
      if (entries.length === size) return { entries, next: entries.at(-1)?.next ?? after, hasMore: true };
      entries.push(entry);
    }
  }
  const lastFound = positions.at(-1) ?? 0;
  if (positions.length === limit) return { entries, next: { position: lastFound, offset: 0 }, hasMore: true };
  const end = Math.max(lastPosition, lastFound) + 1;
  return { entries, next: { position: Math.max(end, after.position), offset: 0 }, hasMore: false };
}

/**
 * Returns the entries of a row after the first `offset` ones, as far as its order ids were read: that of the report,
 * catalog, location or e-report, and those of the orders of a report.
 */
function expandChangeRow(row: ChangeRowEntries, offset: number): ChangeEntry[] {
  const { locationId, type, id, position, revision, changedAt, entryCount } = row;
  const action = row.action === "expired" ? "removed" : row.action;
  const toOrders = (ids: string[], action: ChangeAction) => ids.map((id) => ({ type: "order" as const, id, action }));
  const resources: Pick<ChangeEntry, "type" | "action" | "id">[] = [
    ...(offset === 0 ? [{ type, id, action }] : []),
    ...toOrders(row.orderIds, action),
    ...toOrders(row.reassignedOrderIds, "replaced"),
    ...toOrders(row.removedOrderIds, "removed"),
  ];
  return resources.map((resource, index) => {
    const returnedCount = offset + index + 1;
    const next =
      returnedCount === entryCount ? { position: position + 1, offset: 0 } : { position, offset: returnedCount };
    return { locationId, ...resource, revision, changedAt, next };
  });
}
