import { setImmediate } from "node:timers/promises";
import type { BusEventData } from "@pragma/contracts/events";
import type { SqlTransaction } from "@pragma/runtime/database/postgres";
import { joinJsonObjectTexts } from "@pragma/runtime/json/join-json";
import type { CalculatedOrder, CalculatedTill } from "./calculation-thread.ts";
import { compressDayText } from "./days/day-texts.ts";
import { moveOrdersWithoutTill, updateOrdersWithoutTill } from "./days/queries/shifts.ts";
import { updateDays } from "./days/update-days.ts";
import { buildContentVersion, computeDocumentTag } from "./documents/entity-tags.ts";
import { replaceOrderTimes } from "./documents/order-texts.ts";
import { assertTillCanChange } from "./documents/packing/with-unpacked-tills.ts";
import { adjustDayCounts } from "./documents/queries/day-counts.ts";
import * as orders from "./documents/queries/orders.ts";
import { deletePackedTill, findPackedTill, listPackedOrders } from "./documents/queries/packed-tills.ts";
import * as reports from "./documents/queries/reports.ts";
import type { TillKey } from "./documents/queries/tills.ts";
import { storeExcludedFigures } from "./e-reporting/exclude-orders.ts";
import { deleteTillEFigures, recordChangedDays, replaceTillEFigures } from "./e-reporting/queries/figures.ts";
import { deleteTillMetrics, replaceTillMetrics } from "./metrics/queries/metrics.ts";

export type TillPushedData = BusEventData<"till.pushed">;

/** The orders of a till that is being stored are in the database. */
const unpackedOrders = {
  objects: {
    getStoredRange: () => Promise.reject(new Error("The orders of a till that is being stored are not packed.")),
  },
};

/**
 * Replaces the stored report and orders of a till with those of a new revision, and updates the counts by day. Orders that
 * were already stored keep their creation time. The caller must lock the location first.
 *
 * @throws PackedTillsError, which `withUnpackedTills` handles, before anything is changed.
 */
export async function replaceDocuments(
  tx: SqlTransaction,
  pushed: TillPushedData,
  report: CalculatedTill,
  { traceparent }: { traceparent?: string } = {},
): Promise<void> {
  const { tillId, locationId } = pushed;
  const now = report.calculatedAt;
  const orderIds = report.orders.map(({ id }) => id);
  const [{ report: previousReport, hasOrdersWithoutTill }, copies] = await Promise.all([
    reports.findReportOfTill(tx, { locationId, tillId }),
    orders.findOrderCopies(tx, { locationId, tillId, ids: orderIds }),
    assertTillCanChange(tx, { locationId, tillId, newOrderIds: orderIds }),
  ]);
  const creationTimes = findEarliestCreationTimes(copies);

  const { reportVersion } = report;
  const contentVersion = buildContentVersion({ ...pushed, hash: pushed.object.hash, reportVersion, updatedAt: now });
  const { id, day, startedAt, v2, listItem, accountingDataJson } = report;
  const times = { createdAt: previousReport?.createdAt ?? now, updatedAt: now };
  const etag = computeDocumentTag(contentVersion, id);
  const reportRow: reports.ReportRow = {
    ...{ id, tillId, locationId, day, startedAt, v2, listItem, accountingData: accountingDataJson, etag, ...times },
    tillFigures: report.tillFiguresJson === null ? null : compressDayText(report.tillFiguresJson),
    hasMetrics: report.metrics !== null,
    finalized: JSON.stringify(toReportFinalizedData(pushed, report)),
    v0: joinJsonObjectTexts(JSON.stringify({ id, ...times }), report.v0),
  };
  const content = { contentVersion, reportId: id, pushedAt: pushed.pushedAt };
  const [orderDays, , , excludedOrderIds] = await Promise.all([
    replaceOrders(tx, pushed, copies, generateOrderRows(report, creationTimes, content)),
    reports.upsertReportRow(tx, reportRow),
    replaceTillMetrics(tx, { locationId, tillId, previousDay: previousReport?.day, day, metrics: report.metrics }),
    replaceTillEFigures(tx, { locationId, tillId, reportId: id, day, orderIds, data: report.eReportData }),
  ]);
  if (excludedOrderIds.length > 0) {
    await storeExcludedFigures(unpackedOrders, tx, { locationId, tillId, orderIds: excludedOrderIds });
  }
  // Only a till with a report can be packed or lost.
  if (previousReport) orderDays.before.push(...(await deletePackedOrders(tx, { locationId, tillId })));
  const reportDays = { before: previousReport ? [previousReport.day] : [], after: [report.day] };
  const days = [...reportDays.before, ...reportDays.after];
  if (hasOrdersWithoutTill) {
    days.push(...(await moveOrdersWithoutTill(tx, { locationId, tillId, day })));
    days.push(...(await updateOrdersWithoutTill(tx, { locationId, tillId, orderIds })));
  }
  // The days are computed with the new counts, because statements of a transaction run in their sequence.
  const [, changedDays] = await Promise.all([
    adjustDayCounts(tx, { locationId, report: reportDays, order: orderDays }),
    updateDays(tx, { locationId, days, updatedAt: now, traceparent }),
  ]);
  await recordChangedDays(tx, { locationId, days: changedDays });
}

/** Deletes the report and orders of a till, which may be packed, and updates the counts. */
export async function deleteDocumentsOfTill(
  tx: SqlTransaction,
  { tillId, locationId }: TillKey,
  { traceparent, isExpiry = false }: { traceparent?: string | undefined; isExpiry?: boolean } = {},
): Promise<void> {
  const key = { locationId, tillId };
  const { report, hasOrdersWithoutTill } = await reports.findReportOfTill(tx, key);
  if (!report) return;
  // Copies that are not current are deleted without an effect on those of other tills, which may be packed.
  const ids = new Set(await orders.findOrderIdsOfTill(tx, key, { isCurrent: true }));
  const copies = await orders.findOrderCopies(tx, { ...key, ids: [...ids] });
  const changed = copies.filter((copy) => copy.tillId === tillId || ids.has(copy.id));
  const orderDays = await replaceOrders(tx, key, changed, []);
  orderDays.before.push(...(await deletePackedOrders(tx, key)));
  await tx`delete from reports where location_id = ${locationId} and till_id = ${tillId}`;
  await deleteTillMetrics(tx, { ...key, day: report.day });
  // An expired till changes no period that was reported.
  if (!isExpiry) await deleteTillEFigures(tx, key);
  const days = [report.day];
  if (hasOrdersWithoutTill) days.push(...(await updateOrdersWithoutTill(tx, { ...key, orderIds: [] })));
  const [, changedDays] = await Promise.all([
    adjustDayCounts(tx, { locationId, report: { before: [report.day], after: [] }, order: orderDays }),
    updateDays(tx, { locationId, days, updatedAt: new Date().toISOString(), traceparent, isExpiry }),
  ]);
  if (!isExpiry) await recordChangedDays(tx, { locationId, days: changedDays });
}

/**
 * Replaces the orders of a till. Returns the days of the current copies of the affected orders before and after. `copies`
 * are those of the previous and the new orders in all tills, and `rows` are the rows of `orders`.
 */
async function replaceOrders(
  tx: SqlTransaction,
  { tillId, locationId }: TillKey,
  copies: orders.StoredOrderCopy[],
  rows: AsyncIterable<orders.OrderRow> | Iterable<orders.OrderRow>,
): Promise<{ before: string[]; after: string[] }> {
  const before = copies.filter(({ isCurrent }) => isCurrent).map(({ day }) => day);
  if (copies.some((copy) => copy.tillId === tillId))
    await tx`delete from orders where location_id = ${locationId} and till_id = ${tillId}`;
  const sharedIds = new Set(copies.filter((copy) => copy.tillId !== tillId).map(({ id }) => id));
  const after: string[] = [];
  const toInsert = (async function* () {
    for await (const row of rows) {
      const isCurrent = !sharedIds.has(row.id);
      if (isCurrent) after.push(row.day);
      yield { ...row, tillId, locationId, isCurrent };
    }
  })();
  await orders.insertOrders(tx, toInsert);
  if (sharedIds.size > 0) {
    const ids = [...sharedIds];
    await orders.markLatestOrderCopiesCurrent(tx, { locationId, ids });
    const current = await tx<{ day: string }[]>`
      select day::text as day from orders
      where location_id = ${locationId} and id = any(${ids}::uuid[]) and is_current`;
    after.push(...current.map(({ day }) => day));
  }
  return { before, after };
}

/** Yields the rows of a calculated till's orders, as soon as their texts are there. */
async function* generateOrderRows(
  report: CalculatedTill,
  creationTimes: ReadonlyMap<string, string>,
  { contentVersion, ...content }: { contentVersion: string; reportId: string; pushedAt: string },
): AsyncGenerator<orders.OrderRow> {
  const waiting = report.orders.values();
  for (const batch of report.orderTexts) {
    for (const texts of await batch) {
      const order = waiting.next().value as CalculatedOrder;
      const times = { createdAt: creationTimes.get(order.id) ?? report.calculatedAt, updatedAt: report.calculatedAt };
      const etag = computeDocumentTag(contentVersion, order.id);
      const row = { ...order, ...texts, ...times, ...content, etag };
      if (order.createdAt === times.createdAt) yield row;
      else {
        // Another till stored the order earlier. Lets other work run in between, because a till can have thousands.
        await setImmediate();
        const calculated = { ...times, createdAt: order.createdAt };
        yield { ...row, ...replaceOrderTimes({ id: order.id, ...texts }, { from: calculated, to: times }) };
      }
    }
  }
}

function findEarliestCreationTimes(copies: orders.StoredOrderCopy[]): Map<string, string> {
  const times = new Map<string, string>();
  for (const { id, createdAt } of copies.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime()))
    times.set(id, createdAt.toISOString());
  return times;
}

/** Deletes what is stored of a till that is packed or lost, without its texts. Returns the days of its current orders. */
async function deletePackedOrders(tx: SqlTransaction, key: TillKey): Promise<string[]> {
  const till = await findPackedTill(tx, key);
  if (!till) return [];
  const groups = await listPackedOrders(tx, key);
  await deletePackedTill(tx, till);
  return groups.flatMap(({ day, isCurrent, ids }) => (isCurrent ? ids.map(() => day) : []));
}

/** Returns the data of the `report.finalized` event. */
export function toReportFinalizedData(
  { locationId, tillId, revision, isErasure, erasedRevision }: TillPushedData,
  report: CalculatedTill,
): BusEventData<"report.finalized"> {
  const { id: reportId, reportVersion, reportNumber, startedAt, finalizedAt, totalSales } = report;
  return {
    ...{ locationId, reportId, tillId, revision, reportVersion, reportNumber, startedAt, finalizedAt, totalSales },
    orderIds: report.orders.map(({ id }) => id),
    ...((isErasure || erasedRevision !== undefined) && { isErased: true }),
  };
}
