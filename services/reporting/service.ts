import { limitedList } from "@pragma/contracts/fields";
import { startClaimLoop } from "@pragma/runtime/claim-loop";
import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import type { Database } from "@pragma/runtime/postgres";
import { createWorkerPool } from "@pragma/runtime/worker-pool";
import { Hono } from "hono";
import { z } from "zod";
import { makeExport } from "./accounting/make-export.ts";
import type { FailedTill, WriteTill, WrittenTill } from "./accounting/write-till.ts";
import { eraseOrders, erasePersonalData } from "./erase-orders.ts";
import { claimExports, countUnfinished, listUnfinished, removeOldExports } from "./queries/accounting-exports.ts";
import { type Reporting, reportingConfig } from "./reporting.ts";
import {
  createAccountingConfig,
  deleteAccountingConfig,
  getAccountingConfig,
  listAccountingConfigs,
  replaceAccountingConfig,
} from "./routes/accounting-configs.ts";
import { createAccountingExport, getAccountingExport, getAccountingFile } from "./routes/accounting-exports.ts";
import {
  getOrderV1,
  getOrderV2,
  getReportV0,
  getReportV2,
  listOrders,
  listReportsV0,
  listReportsV2,
} from "./routes/records.ts";
import { tillPushed } from "./subscriptions/till-pushed.ts";
import { openTillCalculator } from "./till-calculator.ts";

const locationId = z.guid();
const erasure = z.union([
  z.object({ locationId, orderIds: limitedList(z.guid().toLowerCase(), 1_000, { min: 1 }) }),
  z.object({ locationId, before: z.iso.date() }),
]);

/** How many exports are listed at most. */
const maxListed = 1_000;

/** What operators may ask of this service: which exports are unfinished, and to have personal data erased. */
export function reportingOperations(db: Database): Hono {
  const app = new Hono();
  app.get("/exports", async (context) => context.json(await listUnfinished(db.sql, maxListed)));
  app.post("/erasures", async (context) => {
    const given = erasure.safeParse(await context.req.json().catch(() => undefined));
    if (!given.success) return context.json({ error: z.prettifyError(given.error) }, 400);
    return context.json(await eraseOrders(db, given.data));
  });
  return app;
}

/** Exports that an instance makes at a time. */
const exportsAtATime = 2;
/** How soon an instance finds exports that another was asked for, or that another has died of. */
const exportPollMs = 1_000;

/** Turns tills into reports and orders, serves them, and makes files for accounting software of them. */
export default defineService<typeof reportingConfig, Reporting>({
  name: "reporting",
  module: import.meta.url,
  config: reportingConfig,
  open({ db, log, metrics, registry }, config) {
    const objects = openObjectStore(config.OBJECT_STORE);
    // A location has one of the threads at a time, and a large till leaves one to others.
    const calculator = openTillCalculator({ threads: 2, heapMegabytes: config.CALCULATION_HEAP_MB });
    const writer = createWorkerPool<WriteTill, WrittenTill | FailedTill>(import.meta.url, "./accounting/write-till", {
      threads: 1,
      heapMegabytes: config.CALCULATION_HEAP_MB,
      // Exports come rarely: no thread waits for them.
      kept: 0,
    });
    metrics.observe("accounting_exports_unfinished", "Accounting exports that have not come to their end", () =>
      countUnfinished(db.sql),
    );
    const making = startClaimLoop({
      name: "accounting exports",
      log,
      claim: (limit) => claimExports(db.sql, { limit, seconds: config.EXPORT_CLAIM_SECONDS }),
      work: (claim, signal) => makeExport({ db, log, config, writer }, claim, signal),
      concurrency: exportsAtATime,
      pollMs: exportPollMs,
    });
    return {
      services: {
        ...{ db, log, config, objects, calculator },
        locations: locationsFrom(registry, "reporting"),
        wakeExports: making.wake,
      },
      checks: { objects: () => objects.check() },
      operations: reportingOperations(db),
      async close() {
        await making.close();
        await writer.close();
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
  periodic: [
    {
      name: "remove old accounting exports",
      everySeconds: 3_600,
      run: ({ db, config }) => removeOldExports(db, config.EXPORTS_KEPT_DAYS),
    },
    erasePersonalData,
  ],
});
