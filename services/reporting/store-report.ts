import type { BusEventData } from "@pragma/contracts/events";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import type { SerializedReportAndOrderResponses } from "./calculate-till.ts";
import type { ReportingServiceConfig } from "./config.ts";
import { buildContentVersion, computeReportOrOrderEntityTag } from "./entity-tags.ts";
import { adjustReportAndOrderDayCounts } from "./queries/day-counts.ts";
import * as orders from "./queries/orders.ts";
import { deletePackedTill, findPackedTill, listPackedOrders } from "./queries/packed-tills.ts";
import * as reports from "./queries/reports.ts";

type TillPushedData = BusEventData<"till.pushed">;
type ReportFinalizedData = BusEventData<"report.finalized">;

/**
 * Replaces the stored report and orders of a till with those of a new revision, and updates the counts by day. Orders
 * that the new revision does not contain are deleted. Orders that were already stored keep their creation time.
 *
 * @returns the data of the `report.finalized` event.
 */
export async function replaceStoredReportAndOrders(
  tx: SqlTransaction,
  pushed: TillPushedData,
  report: SerializedReportAndOrderResponses,
  { COMPRESS_V2_ORDERS: isCompressed }: Pick<ReportingServiceConfig, "COMPRESS_V2_ORDERS">,
): Promise<ReportFinalizedData> {
  const { tillId, locationId } = pushed;
  const now = new Date().toISOString();
  const orderIds = report.orders.map(({ id }) => id);
  const [previousReport, copies] = await Promise.all([
    reports.findDayAndCreationTimeOfTillReport(tx, { locationId, tillId }),
    orders.findOrderCopies(tx, { locationId, tillId, ids: orderIds }),
  ]);
  const creationTimes = findEarliestCreationTimes(copies);

  const finalized = toReportFinalizedData(pushed, report);
  const { reportVersion } = report;
  const contentVersion = buildContentVersion({ ...pushed, hash: pushed.object.hash, reportVersion, updatedAt: now });
  const { id, day, startedAt, v2, listItem, accountingFacts } = report;
  const times = { createdAt: previousReport?.createdAt ?? now, updatedAt: now };
  const reportRow: reports.ReportRow = {
    ...{ id, tillId, locationId, day, startedAt, v2, listItem, accountingFacts, ...times },
    etag: computeReportOrOrderEntityTag(contentVersion, id),
    finalized: JSON.stringify(finalized),
    v0: joinJsonObjectTexts(JSON.stringify({ id, ...times }), report.v0),
  };
  const rows = report.orders.map((order): orders.ReportingOrderDatabaseRow => {
    const times = { createdAt: creationTimes.get(order.id) ?? now, updatedAt: now };
    const idAndTimes = JSON.stringify({ id: order.id, ...times });
    const bodies = { v1: joinJsonObjectTexts(idAndTimes, order.v1), v2: joinJsonObjectTexts(idAndTimes, order.v2) };
    const etag = computeReportOrOrderEntityTag(contentVersion, order.id);
    return { ...order, ...times, ...bodies, etag, reportId: id, pushedAt: pushed.pushedAt };
  });
  // PostgreSQL stores the report while orders are compressed.
  const [orderDays] = await Promise.all([
    replaceOrders(tx, pushed, { copies, rows, isCompressed }),
    reports.upsertReportRow(tx, reportRow),
  ]);
  // Only a till with a report can be packed or lost.
  if (previousReport) orderDays.before.push(...(await deletePackedOrders(tx, { locationId, tillId })));
  const reportDays = { before: previousReport ? [previousReport.day] : [], after: [report.day] };
  await adjustReportAndOrderDayCounts(tx, { locationId, report: reportDays, order: orderDays });
  return finalized;
}

/**
 * Deletes the report and orders of a till that is now in training mode or has expired, and updates the counts. The till
 * may be packed.
 */
export async function deleteReportAndOrdersOfTill(
  tx: SqlTransaction,
  { tillId, locationId }: Pick<TillPushedData, "tillId" | "locationId">,
): Promise<void> {
  const previousReport = await reports.findDayAndCreationTimeOfTillReport(tx, { locationId, tillId });
  if (!previousReport) return;
  // Copies that are not current are deleted without an effect on those of other tills, which may be packed.
  const ids = new Set(await orders.findCurrentOrderIdsOfTill(tx, { locationId, tillId }));
  const copies = await orders.findOrderCopies(tx, { locationId, tillId, ids: [...ids] });
  const changed = copies.filter((copy) => copy.tillId === tillId || ids.has(copy.id));
  const orderDays = await replaceOrders(tx, { tillId, locationId }, { copies: changed, rows: [], isCompressed: false });
  orderDays.before.push(...(await deletePackedOrders(tx, { locationId, tillId })));
  await reports.deleteReportOfTill(tx, { locationId, tillId });
  const reportDays = { before: [previousReport.day], after: [] };
  await adjustReportAndOrderDayCounts(tx, { locationId, report: reportDays, order: orderDays });
}

interface OrderReplacement {
  /** The stored copies of the till's previous orders and of the new orders, in all tills. */
  copies: orders.StoredOrderCopy[];
  rows: orders.ReportingOrderDatabaseRow[];
  isCompressed: boolean;
}

/** Replaces the orders of a till. Returns the days of the current copies of the affected orders before and after. */
async function replaceOrders(
  tx: SqlTransaction,
  { tillId, locationId }: Pick<TillPushedData, "tillId" | "locationId">,
  { copies, rows, isCompressed }: OrderReplacement,
): Promise<{ before: string[]; after: string[] }> {
  const before = copies.filter(({ isCurrent }) => isCurrent).map(({ day }) => day);
  if (copies.some((copy) => copy.tillId === tillId)) await orders.deleteOrdersOfTill(tx, { locationId, tillId });
  const sharedIds = new Set(copies.filter((copy) => copy.tillId !== tillId).map(({ id }) => id));
  const inserted = rows.map((row) => ({ ...row, tillId, locationId, isCurrent: !sharedIds.has(row.id) }));
  await orders.insertOrders(tx, inserted, { isCompressed });
  const after = inserted.filter(({ isCurrent }) => isCurrent).map(({ day }) => day);
  if (sharedIds.size > 0) {
    const ids = [...sharedIds];
    await orders.markLatestOrderCopiesCurrent(tx, { locationId, ids });
    after.push(...(await orders.findDaysOfOrdersByIds(tx, { locationId, ids })));
  }
  return { before, after };
}

/** Returns the earliest creation time of each order in any till of the location. */
function findEarliestCreationTimes(copies: orders.StoredOrderCopy[]): Map<string, string> {
  const times = new Map<string, string>();
  for (const { id, createdAt } of copies.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime()))
    times.set(id, createdAt.toISOString());
  return times;
}

/** Deletes what is stored of a till that is packed or lost, without its texts. Returns the days of its current orders. */
async function deletePackedOrders(
  tx: SqlTransaction,
  key: Pick<TillPushedData, "tillId" | "locationId">,
): Promise<string[]> {
  const till = await findPackedTill(tx, key);
  if (!till) return [];
  const groups = await listPackedOrders(tx, key);
  await deletePackedTill(tx, till);
  return groups.flatMap(({ day, isCurrent, ids }) => (isCurrent ? ids.map(() => day) : []));
}

function toReportFinalizedData(
  { locationId, tillId, revision }: TillPushedData,
  report: SerializedReportAndOrderResponses,
): ReportFinalizedData {
  const { id: reportId, reportVersion, reportNumber, startedAt, finalizedAt, totalSales } = report;
  const orderIds = report.orders.map(({ id }) => id);
  return {
    locationId,
    reportId,
    tillId,
    revision,
    reportVersion,
    reportNumber,
    startedAt,
    finalizedAt,
    totalSales,
    orderIds,
  };
}
