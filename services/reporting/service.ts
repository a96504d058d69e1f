import { defineService } from "@pragma/runtime/define-service";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import { createWorkerPool } from "@pragma/runtime/worker-pool";
import type { CalculatedTill, CalculateTill } from "./calculate-till.ts";
import { reportingConfig } from "./config.ts";
import type { Reporting } from "./reporting.ts";
import { getOrderV1 } from "./routes/get-order-v1.ts";
import { getOrderV2 } from "./routes/get-order-v2.ts";
import { getReportV0 } from "./routes/get-report-v0.ts";
import { getReportV2 } from "./routes/get-report-v2.ts";
import { listOrders } from "./routes/list-orders.ts";
import { listReportsV0 } from "./routes/list-reports-v0.ts";
import { listReportsV2 } from "./routes/list-reports-v2.ts";
import { tillPushed } from "./subscriptions/till-pushed.ts";

/** Turns tills into reports and orders, and serves them. */
export default defineService<typeof reportingConfig, Reporting>({
  name: "reporting",
  module: import.meta.url,
  config: reportingConfig,
  open({ db, log }, config) {
    const objects = openObjectStore(config.OBJECT_STORE);
    const calculator = createWorkerPool<CalculateTill, CalculatedTill>(import.meta.url, "./calculate-till", {
      threads: config.CALCULATION_THREADS,
    });
    return {
      services: { db, log, objects, calculator },
      checks: { objects: () => objects.check() },
      async close() {
        await calculator.close();
        await objects.close();
      },
    };
  },
  routes: [listReportsV2, getReportV2, listReportsV0, getReportV0, listOrders, getOrderV1, getOrderV2],
  subscriptions: [tillPushed],
});
