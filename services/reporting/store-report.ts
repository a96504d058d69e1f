import type { EventData } from "@pragma/contracts/events";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { computeEntityTag } from "@pragma/runtime/http/route-response";
import { mergeJsonObjects } from "@pragma/runtime/json/join-json";
import type { CalculatedReport } from "./calculate-till.ts";
import { adjustDayCounts } from "./queries/day-counts.ts";
import * as orders from "./queries/orders.ts";
import * as reports from "./queries/reports.ts";

type TillPushedData = EventData<"till.pushed">;
type ReportFinalizedData = EventData<"report.finalized">;

/**
 * Writes a till's report and orders in the place of those of its earlier revision, and brings the counters of their
 * days up to date. Orders that are gone are gone; what stays keeps its first time of creation.
 *
 * @returns what `report.finalized` says of it.
 */
export async function storeReport(
  tx: SqlTransaction,
  pushed: TillPushedData,
  report: CalculatedReport,
): Promise<ReportFinalizedData> {
  const { tillId, locationId } = pushed;
  const now = new Date().toISOString();
  const orderIds = report.orders.map(({ id }) => id);
  const reportBefore = await reports.findReportDayOfTill(tx, tillId);
  const creationTimes = await orders.findOrderCreationTimes(tx, { locationId, ids: orderIds });

  const finalized = toReportFinalizedData(pushed, report);
  // What the replies of a till follow from: they differ when this does.
  const contentVersion = `${pushed.object.hash} ${pushed.revision} ${report.reportVersion} ${now}`;
  const { id, day, startedAt, v2, listItem, accountingFacts } = report;
  const times = { createdAt: reportBefore?.createdAt ?? now, updatedAt: now };
  await reports.upsertReport(tx, {
    ...{ id, tillId, locationId, day, startedAt, v2, listItem, accountingFacts, ...times },
    etag: computeEntityTag(`${contentVersion} ${id}`),
    finalized: JSON.stringify(finalized),
    v0: mergeJsonObjects(JSON.stringify({ id, ...times }), report.v0),
  });
  const rows = report.orders.map((order) => {
    const times = { createdAt: creationTimes.get(order.id) ?? now, updatedAt: now };
    const head = JSON.stringify({ id: order.id, ...times });
    const bodies = { v1: mergeJsonObjects(head, order.v1), v2: mergeJsonObjects(head, order.v2) };
    const { pushedAt } = pushed;
    return {
      ...order,
      ...times,
      ...bodies,
      etag: computeEntityTag(`${contentVersion} ${order.id}`),
      reportId: id,
      pushedAt,
    };
  });
  await replaceOrders(tx, pushed, rows);
  const reportsBefore = reportBefore ? [reportBefore.day] : [];
  await adjustDayCounts(tx, { locationId, kind: "report", before: reportsBefore, after: [report.day] });
  return finalized;
}

/** Takes away the report and orders of a till that has become a training till. */
export async function removeReport(tx: SqlTransaction, { tillId, locationId }: TillPushedData): Promise<void> {
  const reportBefore = await reports.findReportDayOfTill(tx, tillId);
  if (!reportBefore) return;
  await replaceOrders(tx, { tillId, locationId }, []);
  await reports.deleteReportOfTill(tx, tillId);
  await adjustDayCounts(tx, { locationId, kind: "report", before: [reportBefore.day], after: [] });
}

/** Puts orders in the place of those that a till had, and brings the counters of their days up to date. */
async function replaceOrders(
  tx: SqlTransaction,
  { tillId, locationId }: Pick<TillPushedData, "tillId" | "locationId">,
  rows: orders.OrderRow[],
): Promise<void> {
  const ids = [...new Set([...(await orders.findOrderIdsOfTill(tx, tillId)), ...rows.map(({ id }) => id)])];
  const before = await orders.findCurrentOrderDays(tx, { locationId, ids });
  await orders.replaceOrdersOfTill(tx, { tillId, locationId, rows });
  await orders.assignOrdersToLatestTill(tx, { locationId, ids });
  const after = await orders.findCurrentOrderDays(tx, { locationId, ids });
  await adjustDayCounts(tx, { locationId, kind: "order", before, after });
}

function toReportFinalizedData(
  { locationId, tillId, revision }: TillPushedData,
  report: CalculatedReport,
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
