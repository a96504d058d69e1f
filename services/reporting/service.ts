import { defineService } from "@pragma/runtime/define-service";
import { openJobQueue } from "@pragma/runtime/job-queue";
import { locationsFrom } from "@pragma/runtime/locations";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import { type ExportJob, exportAnnouncer } from "./accounting/announce-export.ts";
import { makeExport } from "./accounting/make-export.ts";
import { reportingConfig } from "./config.ts";
import { reportingOperations } from "./operations.ts";
import { erasePersonalData } from "./periodic/erase-personal-data.ts";
import { removeOldExports } from "./periodic/remove-old-exports.ts";
import { sweepExports } from "./periodic/sweep-exports.ts";
import type { Reporting } from "./reporting.ts";
import { createAccountingConfig } from "./routes/create-accounting-config.ts";
import { createAccountingExport } from "./routes/create-accounting-export.ts";
import { deleteAccountingConfig } from "./routes/delete-accounting-config.ts";
import { getAccountingConfig } from "./routes/get-accounting-config.ts";
import { getAccountingExport } from "./routes/get-accounting-export.ts";
import { getAccountingFile } from "./routes/get-accounting-file.ts";
import { getOrderV1, getOrderV2 } from "./routes/get-order.ts";
import { getReportV0, getReportV2 } from "./routes/get-report.ts";
import { listAccountingConfigs } from "./routes/list-accounting-configs.ts";
import { listOrders } from "./routes/list-orders.ts";
import { listReportsV0, listReportsV2 } from "./routes/list-reports.ts";
import { replaceAccountingConfig } from "./routes/replace-accounting-config.ts";
import { tillPushed } from "./subscriptions/till-pushed.ts";
import { openTillCalculator } from "./till-calculator.ts";

/** Exports that an instance makes at a time. */
const exportsAtATime = 2;

/** Turns tills into reports and orders, serves them, and makes files for accounting software of them. */
export default defineService<typeof reportingConfig, Reporting>({
  name: "reporting",
  module: import.meta.url,
  config: reportingConfig,
  open({ db, log, metrics, registry }, config) {
    const objects = openObjectStore(config.OBJECT_STORE);
    const calculator = openTillCalculator({
      threads: config.CALCULATION_THREADS,
      heapMegabytes: config.CALCULATION_HEAP_MB,
    });
    const queue = openJobQueue<ExportJob>(config, { name: "reporting-exports", log, metrics });
    const services: Reporting = {
      ...{ db, log, objects, calculator },
      locations: locationsFrom(registry, "reporting"),
      pageMaxBytes: config.PAGE_MAX_BYTES,
      announceExports: exportAnnouncer({ queue, log }),
      exportClaimSeconds: config.EXPORT_CLAIM_SECONDS,
      exportsKeptDays: config.EXPORTS_KEPT_DAYS,
      personalDataKeptDays: config.PERSONAL_DATA_KEPT_DAYS,
    };
    queue.work(({ exportId }, signal) => makeExport(services, exportId, signal), { concurrency: exportsAtATime });
    return {
      services,
      checks: { objects: () => objects.check(), redis: () => queue.check() },
      queues: () => [queue.queue],
      operations: reportingOperations(db),
      async close() {
        await queue.close();
        await calculator.close();
        await objects.close();
      },
    };
  },
  routes: [
    listReportsV2,
    getReportV2,
    listReportsV0,
    getReportV0,
    listOrders,
    getOrderV1,
    getOrderV2,
    createAccountingConfig,
    listAccountingConfigs,
    getAccountingConfig,
    replaceAccountingConfig,
    deleteAccountingConfig,
    createAccountingExport,
    getAccountingExport,
    getAccountingFile,
  ],
  subscriptions: [tillPushed],
  periodic: [sweepExports, removeOldExports, erasePersonalData],
});
