import type { ChangeAction, ChangeType } from "@pragma/contracts/changes";
import type { SqlClient } from "@pragma/runtime/database/postgres";
import { findAllChangesFeed, findAllChangesRowsFrom, findChangeRowsOfAllLocations } from "../queries/all-changes.ts";
import {
  type ChangeRowEntries,
  type ChangeRowType,
  findChangeRowsFrom,
  findLastChangePosition,
} from "../queries/changes.ts";
import type { ChangeCursor } from "./change-cursor.ts";

/** An entry of the change feed, with the cursor after it. */
interface ChangeEntry {
  locationId: string;
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

/** The maximum number of rows of the feed that are read for one page with orders. */
const maxRowsWithOrders = 100;

interface ReadOptions {
  after: ChangeCursor;
  types: ChangeType[];
  size: number;
}

/**
 * Returns up to `size` entries of a location from a cursor on. Undefined if the location has no feed yet.
 *
 * Nothing is lost while rows move: every transaction that takes a position holds the lock of the feed until it ends, so a
 * statement that sees a position sees all lower ones, unless their rows have moved to a higher position, where a later
 * page contains them.
 */
export async function readChangeEntries(
  sql: SqlClient,
  { locationId, ...options }: ReadOptions & { locationId: string },
): Promise<ChangeEntriesPage | undefined> {
  // Read before the rows, so that the rows up to this position are certainly included.
  const lastPosition = await findLastChangePosition(sql, locationId);
  if (lastPosition === undefined) return undefined;
  const { hasOrders, limit, rowTypes } = planRead(options);
  const { after, size } = options;
  const found = await findChangeRowsFrom(sql, { locationId, ...after, size, types: rowTypes, hasOrders, limit });
  return buildPage(found.slice(0, limit - 1), {
    ...options,
    lastPosition,
    positions: found.map(({ position }) => position),
    limit,
  });
}

/**
 * Returns up to `size` entries of all locations from a cursor on. Positions in this feed are taken under a lock, too, so
 * that the same holds for it.
 */
export async function readChangeEntriesOfAllLocations(
  sql: SqlClient,
  options: ReadOptions,
): Promise<ChangeEntriesPage> {
  const { position: lastPosition } = await findAllChangesFeed(sql);
  const { hasOrders, limit, rowTypes } = planRead(options);
  const { after, size } = options;
  const found = await findAllChangesRowsFrom(sql, { position: after.position, types: rowTypes, limit });
  const rows =
    found.length > 0
      ? await findChangeRowsOfAllLocations(sql, found.slice(0, limit - 1), { hasOrders, ...after, size })
      : [];
  return buildPage(rows, { ...options, lastPosition, positions: found.map(({ position }) => position), limit });
}

/** Returns which rows a page needs, and a limit of one more, which shows whether there are more. */
function planRead({ types, size }: ReadOptions) {
  const hasOrders = types.includes("order");
  const rowTypes = [...new Set(types.map((type): ChangeRowType => (type === "order" ? "report" : type)))];
  return { hasOrders, rowTypes, limit: Math.min(size, hasOrders ? maxRowsWithOrders : size) + 1 };
}

interface PageOptions extends ReadOptions {
  /** The last position of the feed, read before the rows. */
  lastPosition: number;
  /** The positions that were found, at most `limit`. Only rows of the first `limit - 1` can be in the page. */
  positions: number[];
  limit: number;
}

function buildPage(
  rows: ChangeRowEntries[],
  { after, types, size, lastPosition, positions, limit }: PageOptions,
): ChangeEntriesPage {
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
 * catalog or location, and those of the orders of a report.
 */
function expandChangeRow(row: ChangeRowEntries, offset: number): ChangeEntry[] {
  const { locationId, type, id, position, revision, changedAt, entryCount } = row;
  const action: ChangeAction = row.action === "expired" ? "removed" : row.action;
  const resources: Pick<ChangeEntry, "type" | "action" | "id">[] = [
    ...(offset === 0 ? [{ type, id, action }] : []),
    ...row.orderIds.map((id) => ({ type: "order" as const, id, action })),
    ...row.reassignedOrderIds.map((id) => ({ type: "order" as const, id, action: "replaced" as const })),
    ...row.removedOrderIds.map((id) => ({ type: "order" as const, id, action: "removed" as const })),
  ];
  return resources.map((resource, index) => {
    const returnedCount = offset + index + 1;
    const next =
      returnedCount === entryCount ? { position: position + 1, offset: 0 } : { position, offset: returnedCount };
    return { locationId, ...resource, revision, changedAt, next };
  });
}
