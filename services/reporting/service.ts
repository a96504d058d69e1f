import { CreateErasureRequest } from "@pragma/contracts/erasure";
import { Admission } from "@pragma/runtime/admission/admission";
import { locationLimits } from "@pragma/runtime/admission/limits";
import { createWorkerThreadPool } from "@pragma/runtime/concurrency/worker-pool";
import { operatorCommandAuditSource } from "@pragma/runtime/messaging/audit-events";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { Hono } from "hono";
import { z } from "zod";
import {
  accountingExports,
  type JournalEntriesWriter,
  writeAccountingExportFiles,
} from "./accounting/accounting-exports.ts";
import {
  createAccountingConfigRoute,
  deleteAccountingConfigRoute,
  getAccountingConfigRoute,
  listAccountingConfigsRoute,
  replaceAccountingConfigRoute,
} from "./accounting/routes/accounting-configs.ts";
import {
  createAccountingExportRoute,
  getAccountingExportFileRoute,
  getAccountingExportRoute,
  listAccountingExportsRoute,
} from "./accounting/routes/accounting-exports.ts";
import { reportingServiceConfigSchema } from "./config.ts";
import type { ReportingContext } from "./context.ts";
import { deleteEndedShifts } from "./days/queries/shifts.ts";
import { getDayRoute, listDaysRoute } from "./days/routes/days.ts";
import { checkPackedTills } from "./documents/packing/check-packed-tills.ts";
import { countUnreadableObjects } from "./documents/packing/packed-object.ts";
import { deleteUnusedObjectsTask } from "./documents/periodic/delete-unused-objects.ts";
import { packTillsTask } from "./documents/periodic/pack-tills.ts";
import { countLostPackedTills } from "./documents/queries/packed-tills.ts";
import { countTillsToPack } from "./documents/queries/reports.ts";
import {
  getOrderV1Route,
  getOrderV2Route,
  getReportV0Route,
  getReportV2Route,
  listOrdersRoute,
  listReportsV0Route,
  listReportsV2Route,
} from "./documents/routes/documents.ts";
import { countDroppedTillDryRuns, tillDryRunHandler } from "./dry-run/dry-run-handler.ts";
import { publishEReportEventsTask } from "./e-reporting/periodic/publish-e-report-events.ts";
import {
  getDeclarantRoute,
  listDeclarantsRoute,
  listWrongSiretsRoute,
  putDeclarantRoute,
} from "./e-reporting/routes/declarants.ts";
import { getEReportRoute, listEReportsRoute } from "./e-reporting/routes/e-reports.ts";
import {
  excludeOrdersRoute,
  includeOrderRoute,
  listExcludedOrdersRoute,
} from "./e-reporting/routes/excluded-orders.ts";
import {
  getTransmissionFileRoute,
  listTransmissionsRoute,
  takeEReportRoute,
} from "./e-reporting/routes/transmissions.ts";
import { bulkExports, writeBulkExportFiles } from "./exports/bulk/bulk-exports.ts";
import type { ExportFileWorker } from "./exports/bulk/export-worker-messages.ts";
import {
  createBulkExportRoute,
  deleteBulkExportRoute,
  getBulkExportFileRoute,
  getBulkExportRoute,
  listBulkExportsRoute,
} from "./exports/bulk/routes/exports.ts";
import type { ExportKindName } from "./exports/export-kind.ts";
import { deleteExpiredExports, isUnfinished, measureUnfinishedExports } from "./exports/queries/export-queries.ts";
import { startExportLoop } from "./exports/run-export.ts";
import { createLocationCurrencies } from "./metrics/location-currencies.ts";
import { mergeMetricMonthsTask } from "./metrics/periodic/merge-metric-months.ts";
import { getMetricsMetaRoute, getMetricsRoute } from "./metrics/routes/metrics.ts";
import { createErasureRoute } from "./retention/erasure-route.ts";
import { countTillRemovalErrors, removeExpiredTillsTask } from "./retention/remove-expired-tills.ts";
import { publishErasureEvents } from "./retention/request-erasure.ts";
import { eraseExpiredDataTask } from "./retention/request-expired-data-erasure.ts";
import { shiftChangeSubscription } from "./subscriptions/shift-changed.ts";
import { calculateTillReportSubscription } from "./subscriptions/till-pushed.ts";
import { createTillCalculator } from "./till-calculator.ts";

/** Longer than events are stored in their stream. */
const endedShiftRetentionDays = 60;

const exportNotificationTopic = "exports";
const maxListedExports = 1_000;
const maxCountedTillsToPack = 10_000;

/** Returns the routes for operators: list unfinished exports, check packed tills, and erase personal data. */
export function createReportingOperatorRoutes({ db, objects }: Pick<ReportingContext, "db" | "objects">): Hono {
  const app = new Hono();
  app.get("/exports", async (context) => {
    const exports = await db.sql`
      select id as export_id, kind, location_id, state, request, created_at, progress, failed_attempts, claimed_until
      from exports where ${isUnfinished(db.sql)} order by created_at limit ${maxListedExports}`;
    return context.json(exports);
  });
  app.get("/packed-tills/check", async (context) =>
    context.json(await checkPackedTills({ db, objects }, context.req.query("after"))),
  );
  app.post("/erasures", async (context) => {
    const parsed = CreateErasureRequest.safeParse(await context.req.json().catch(() => undefined));
    if (!parsed.success) return context.json({ error: z.prettifyError(parsed.error) }, 400);
    return context.json(await publishErasureEvents(db, parsed.data, operatorCommandAuditSource));
  });
  return app;
}

/**
 * The heap of the thread of bulk exports, in megabytes. Its modules need 7 MB, because none of them imports zod. The rest
 * holds a batch of at most 25 orders, or one document of up to 4 MB. If it is too small, a thread with
 * `CALCULATION_HEAP_MB` writes the whole file again.
 */
const bulkExportWorkerHeap = { heapMegabytes: 13, newObjectMegabytes: 3 };

const createBulkExportWorkerPool = (options: Parameters<typeof createWorkerThreadPool>[2]): ExportFileWorker =>
  createWorkerThreadPool(import.meta.url, "./exports/bulk/export-worker", options);

/** The service that computes reports and orders from tills, serves them, and exports them to accounting software. */
export default defineService<typeof reportingServiceConfigSchema, ReportingContext>({
  name: "reporting",
  module: import.meta.url,
  config: reportingServiceConfigSchema,
  createResources({ db, log, metrics, notifier, registry }, config) {
    const objects = createObjectStore(config.OBJECT_STORE);
    // Only one till of each location, and only one large till of all locations, is calculated at a time. Large tills have
    // a thread of their own. Therefore, neither a single location nor large tills can occupy all threads.
    const calculator = createTillCalculator({
      threads: config.CALCULATION_THREADS,
      heapMegabytes: config.CALCULATION_HEAP_MB,
    });
    // Exports are rare, so their threads end when they are idle.
    const exportThread = { threads: 1, minThreads: 0, bulk: "export" } as const;
    const largeExportThread = { ...exportThread, heapMegabytes: config.CALCULATION_HEAP_MB };
    const entryWriterPool: JournalEntriesWriter = createWorkerThreadPool(
      import.meta.url,
      "./accounting/write-till-entries",
      largeExportThread,
    );
    const bulkExportWorkers = {
      worker: createBulkExportWorkerPool({ ...exportThread, ...bulkExportWorkerHeap }),
      largeWorker: createBulkExportWorkerPool(largeExportThread),
    };
    const countUnfinished = async (kind: ExportKindName) => (await measureUnfinishedExports(db.sql, kind)).unfinished;
    metrics.observeGauge("accounting_exports_unfinished", "Accounting exports that are pending or running", () =>
      countUnfinished("accounting"),
    );
    metrics.observeGauge("bulk_exports_unfinished", "Bulk exports that are queued or running", () =>
      countUnfinished("bulk"),
    );
    metrics.observeGauge(
      "bulk_export_oldest_seconds",
      "Age of the oldest unfinished bulk export",
      async () => (await measureUnfinishedExports(db.sql, "bulk")).oldestSeconds,
    );
    metrics.observeGauge("tills_to_pack", `Tills that wait to be packed, counted up to ${maxCountedTillsToPack}`, () =>
      countTillsToPack(db.sql, { hotDays: config.HOT_DAYS, limit: maxCountedTillsToPack }),
    );
    metrics.observeGauge("packed_tills_lost", "Packed tills whose texts are lost until they are reprocessed", () =>
      countLostPackedTills(db.sql),
    );
    metrics.observeCounter(
      "packed_objects_unreadable",
      "Reads of packed tills whose object was missing or damaged",
      countUnreadableObjects,
    );
    metrics.observeCounter(
      "till_dry_runs_dropped",
      "Dry runs of tills that were dropped, because they had waited too long",
      countDroppedTillDryRuns,
    );
    metrics.observeCounter("till_removal_errors", "Expired tills that could not be removed", countTillRemovalErrors);
    const metricsQueries = new Admission({
      ...locationLimits.metricsQueries,
      perProcess: config.METRICS_QUERY_CONCURRENCY,
    });
    metrics.observeCounter(
      "metrics_queries_rejected",
      "Queries of metrics and e-reports that were rejected, because too many were running or waiting",
      () => metricsQueries.rejectedCount,
    );
    const recordMetricsDuration = metrics.createDurationHistogram(
      "metrics_query_duration_seconds",
      "Duration of metrics queries, including the wait for their turn, by the kind of figures and the outcome",
    );
    const locations = createUncachedLocationLookup(registry, "reporting");
    const exportServices = { db, objects, log, config, locations };
    const accountingExportLoop = startExportLoop(exportServices, accountingExports, (run) =>
      writeAccountingExportFiles(run, entryWriterPool),
    );
    const bulkExportLoop = startExportLoop(exportServices, bulkExports, (run) =>
      writeBulkExportFiles(run, bulkExportWorkers),
    );
    const exportLoops = { accounting: accountingExportLoop, bulk: bulkExportLoop };
    const createExportPoll = (kind: ExportKindName) => () => {
      exportLoops[kind].poll();
      notifier.publish(exportNotificationTopic, kind);
    };
    // Another instance may have more capacity for an export than the one that created it.
    notifier.subscribe((topic, kind) => {
      if (topic === exportNotificationTopic) exportLoops[kind as ExportKindName]?.poll();
    });
    return {
      services: {
        ...{ db, log, config, objects, calculator, locations, metricsQueries, recordMetricsDuration },
        locationCurrencies: createLocationCurrencies(locations),
        pollExports: { accounting: createExportPoll("accounting"), bulk: createExportPoll("bulk") },
      },
      checks: { objects: () => objects.check() },
      opsRoutes: createReportingOperatorRoutes({ db, objects }),
      async close() {
        await Promise.all([accountingExportLoop.close(), bulkExportLoop.close()]);
        const pools = [entryWriterPool, bulkExportWorkers.worker, bulkExportWorkers.largeWorker];
        await Promise.all(pools.map((pool) => pool.close()));
        await calculator.close();
        await objects.close();
      },
    };
  },
  routes: [
    listReportsV2Route,
    getReportV2Route,
    listReportsV0Route,
    getReportV0Route,
    listDaysRoute,
    getDayRoute,
    getMetricsRoute,
    getMetricsMetaRoute,
    listOrdersRoute,
    getOrderV1Route,
    getOrderV2Route,
    createAccountingConfigRoute,
    listAccountingConfigsRoute,
    getAccountingConfigRoute,
    replaceAccountingConfigRoute,
    deleteAccountingConfigRoute,
    createAccountingExportRoute,
    listAccountingExportsRoute,
    getAccountingExportRoute,
    getAccountingExportFileRoute,
    createBulkExportRoute,
    listBulkExportsRoute,
    getBulkExportRoute,
    deleteBulkExportRoute,
    getBulkExportFileRoute,
    listDeclarantsRoute,
    getDeclarantRoute,
    putDeclarantRoute,
    listWrongSiretsRoute,
    excludeOrdersRoute,
    listExcludedOrdersRoute,
    includeOrderRoute,
    listEReportsRoute,
    getEReportRoute,
    takeEReportRoute,
    listTransmissionsRoute,
    getTransmissionFileRoute,
    createErasureRoute,
  ],
  subscriptions: [calculateTillReportSubscription, shiftChangeSubscription],
  requestHandlers: [tillDryRunHandler],
  periodic: [
    {
      name: "remove ended shifts",
      intervalSeconds: 6 * 3_600,
      run: ({ db }) => deleteEndedShifts(db, endedShiftRetentionDays),
    },
    { name: "remove expired exports", intervalSeconds: 600, run: ({ db }) => deleteExpiredExports(db) },
    eraseExpiredDataTask,
    packTillsTask,
    mergeMetricMonthsTask,
    deleteUnusedObjectsTask,
    removeExpiredTillsTask,
    publishEReportEventsTask,
  ],
});
