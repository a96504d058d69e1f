import type { EventData } from "@pragma/contracts/events";
import { joinObjects } from "@pragma/runtime/join-json";
import type { Transaction } from "@pragma/runtime/postgres";
import { entityTagOf } from "@pragma/runtime/reply";
import type { CalculatedReport } from "./calculate-till.ts";
import { adjustDayCounts } from "./queries/day-counts.ts";
import * as orders from "./queries/orders.ts";
import * as reports from "./queries/reports.ts";

type Pushed = EventData<"till.pushed">;
type Finalized = EventData<"report.finalized">;

/**
 * Writes a till's report and orders in the place of those of its earlier revision, and brings the counters of their
 * days up to date. Orders that are gone are gone; what stays keeps its first time of creation.
 *
 * @returns what `report.finalized` says of it.
 */
export async function storeReport(tx: Transaction, pushed: Pushed, report: CalculatedReport): Promise<Finalized> {
  const { tillId, locationId } = pushed;
  const now = new Date().toISOString();
  const orderIds = report.orders.map(({ id }) => id);
  const reportBefore = await reports.dayOfTill(tx, tillId);
  const created = await orders.creationTimes(tx, { locationId, ids: orderIds });

  const finalized = finalizedOf(pushed, report);
  // What the replies of a till follow from: they differ when this does.
  const version = `${pushed.object.hash} ${pushed.revision} ${report.reportVersion} ${now}`;
  const { id, day, startedAt, v2, listItem, accountingFacts } = report;
  const times = { createdAt: reportBefore?.createdAt ?? now, updatedAt: now };
  await reports.put(tx, {
    ...{ id, tillId, locationId, day, startedAt, v2, listItem, accountingFacts, ...times },
    etag: entityTagOf(`${version} ${id}`),
    finalized: JSON.stringify(finalized),
    v0: joinObjects(JSON.stringify({ id, ...times }), report.v0),
  });
  const rows = report.orders.map((order) => {
    const times = { createdAt: created.get(order.id) ?? now, updatedAt: now };
    const head = JSON.stringify({ id: order.id, ...times });
    const bodies = { v1: joinObjects(head, order.v1), v2: joinObjects(head, order.v2) };
    const { pushedAt } = pushed;
    return { ...order, ...times, ...bodies, etag: entityTagOf(`${version} ${order.id}`), reportId: id, pushedAt };
  });
  await replaceOrders(tx, pushed, rows);
  const reportsBefore = reportBefore ? [reportBefore.day] : [];
  await adjustDayCounts(tx, { locationId, kind: "report", before: reportsBefore, after: [report.day] });
  return finalized;
}

/** Takes away the report and orders of a till that has become a training till. */
export async function removeReport(tx: Transaction, { tillId, locationId }: Pushed): Promise<void> {
  const reportBefore = await reports.dayOfTill(tx, tillId);
  if (!reportBefore) return;
  await replaceOrders(tx, { tillId, locationId }, []);
  await reports.remove(tx, tillId);
  await adjustDayCounts(tx, { locationId, kind: "report", before: [reportBefore.day], after: [] });
}

/** Puts orders in the place of those that a till had, and brings the counters of their days up to date. */
async function replaceOrders(
  tx: Transaction,
  { tillId, locationId }: Pick<Pushed, "tillId" | "locationId">,
  rows: orders.OrderRow[],
): Promise<void> {
  const ids = [...new Set([...(await orders.idsOfTill(tx, tillId)), ...rows.map(({ id }) => id)])];
  const before = await orders.currentDays(tx, { locationId, ids });
  await orders.replaceOfTill(tx, { tillId, locationId, rows });
  await orders.settleOwners(tx, { locationId, ids });
  const after = await orders.currentDays(tx, { locationId, ids });
  await adjustDayCounts(tx, { locationId, kind: "order", before, after });
}

function finalizedOf({ locationId, tillId, revision }: Pushed, report: CalculatedReport): Finalized {
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
