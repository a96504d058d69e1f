import type { BusEventData } from "@pragma/contracts/events";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import type { SerializedReportAndOrderResponses } from "./calculate-till.ts";
import type { ReportingServiceConfig } from "./config.ts";
import { buildContentVersion, computeReportOrOrderEntityTag } from "./entity-tags.ts";
import { adjustReportOrOrderDayCounts } from "./queries/day-counts.ts";
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
  const previousReport = await reports.findDayAndCreationTimeOfTillReport(tx, { locationId, tillId });
  const previousOrderIds = await orders.findOrderIdsOfTill(tx, { locationId, tillId });
  const creationTimes = await orders.findOrderCreationTimes(tx, { locationId, ids: orderIds });

  const finalized = toReportFinalizedData(pushed, report);
  const { reportVersion } = report;
  const contentVersion = buildContentVersion({ ...pushed, hash: pushed.object.hash, reportVersion, updatedAt: now });
  const { id, day, startedAt, v2, listItem, accountingFacts } = report;
  const times = { createdAt: previousReport?.createdAt ?? now, updatedAt: now };
  await reports.upsertReportRow(tx, {
    ...{ id, tillId, locationId, day, startedAt, v2, listItem, accountingFacts, ...times },
    etag: computeReportOrOrderEntityTag(contentVersion, id),
    finalized: JSON.stringify(finalized),
    v0: joinJsonObjectTexts(JSON.stringify({ id, ...times }), report.v0),
  });
  const rows = report.orders.map((order): orders.ReportingOrderDatabaseRow => {
    const times = { createdAt: creationTimes.get(order.id) ?? now, updatedAt: now };
    const idAndTimes = JSON.stringify({ id: order.id, ...times });
    const bodies = { v1: joinJsonObjectTexts(idAndTimes, order.v1), v2: joinJsonObjectTexts(idAndTimes, order.v2) };
    const etag = computeReportOrOrderEntityTag(contentVersion, order.id);
    return { ...order, ...times, ...bodies, etag, reportId: id, pushedAt: pushed.pushedAt };
  });
  const ids = [...new Set([...previousOrderIds, ...orderIds])];
  await replaceOrders(tx, pushed, { ids, rows, isCompressed });
  const previousDays = previousReport ? [previousReport.day] : [];
  await adjustReportOrOrderDayCounts(tx, { locationId, kind: "report", before: previousDays, after: [report.day] });
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
  const ids = await orders.findCurrentOrderIdsOfTill(tx, { locationId, tillId });
  await replaceOrders(tx, { tillId, locationId }, { ids, rows: [], isCompressed: false });
  await reports.deleteReportOfTill(tx, { locationId, tillId });
  await adjustReportOrOrderDayCounts(tx, { locationId, kind: "report", before: [previousReport.day], after: [] });
}

/** Replaces the orders of a till, and updates the counts by day. `ids` are the orders whose current copy can change. */
async function replaceOrders(
  tx: SqlTransaction,
  { tillId, locationId }: Pick<TillPushedData, "tillId" | "locationId">,
  { ids, rows, isCompressed }: { ids: string[]; rows: orders.ReportingOrderDatabaseRow[]; isCompressed: boolean },
): Promise<void> {
  const before = await orders.findDaysOfOrdersByIds(tx, { locationId, ids });
  before.push(...(await deletePackedOrders(tx, { locationId, tillId })));
  await orders.replaceOrdersOfTill(tx, { tillId, locationId, rows }, { isCompressed });
  await orders.markLatestOrderCopiesCurrent(tx, { locationId, ids });
  const after = await orders.findDaysOfOrdersByIds(tx, { locationId, ids });
  await adjustReportOrOrderDayCounts(tx, { locationId, kind: "order", before, after });
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
