import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import { tillIngestConfig } from "./config.ts";
import { legacySettings } from "./legacy/legacy-config.ts";
import { tillOperations } from "./operations.ts";
import { removeOrphans } from "./periodic/remove-orphans.ts";
import { removeReplaced } from "./periodic/remove-replaced.ts";
import { sweepUnfinished } from "./periodic/sweep-unfinished.ts";
import { countOverdue } from "./queries/tills.ts";
import { startReprocessing } from "./reprocess-many.ts";
import { fetchLegacyTillsRoute } from "./routes/fetch-legacy-tills.ts";
import { getTill } from "./routes/get-till.ts";
import { getTillObject } from "./routes/get-till-object.ts";
import { listLegacyTillsRoute } from "./routes/list-legacy-tills.ts";
import { listTills } from "./routes/list-tills.ts";
import { pushTillV1 } from "./routes/push-till-v1.ts";
import { pushTillV2 } from "./routes/push-till-v2.ts";
import { replaceTillRoute } from "./routes/replace-till.ts";
import { getReprocessing, reprocessTillRoute, reprocessTills } from "./routes/reprocess.ts";
import { markProcessed, markRemoved } from "./subscriptions/mark-processed.ts";
import { ordersErased } from "./subscriptions/orders-erased.ts";
import { openTillReader } from "./till-body.ts";
import type { TillIngest } from "./till-ingest.ts";

/** Accepts tills, keeps their exact bodies, and sees to it that each comes to its report. */
export default defineService<typeof tillIngestConfig, TillIngest>({
  name: "till-ingest",
  module: import.meta.url,
  config: tillIngestConfig,
  open({ db, log, metrics, registry }, config) {
    const objects = openObjectStore(config.OBJECT_STORE);
    const reader = openTillReader({ threads: config.READING_THREADS, heapMegabytes: config.READING_HEAP_MB });
    const locations = locationsFrom(registry, "till-ingest");
    metrics.observe("tills_overdue", "Tills that were announced again and still have no result", () =>
      countOverdue(db.sql),
    );
    const sweepAfter = config.SWEEP_AFTER_SECONDS;
    const reprocessing = startReprocessing({ db, log, sweepAfter });
    return {
      services: {
        ...{ db, log, objects, reader, locations, sweepAfter },
        wakeReprocessing: reprocessing.wake,
        quotas: config,
        revisionQuota: { name: "till_revisions", maximum: config.TILL_REVISIONS_PER_DAY, unit: "revisions" },
        legacy: legacySettings(config),
        replacedKeptDays: config.REPLACED_BODIES_KEPT_DAYS,
      },
      checks: { objects: () => objects.check() },
      operations: tillOperations({ db, log, sweepAfter }),
      async close() {
        await reprocessing.close();
        await reader.close();
        await objects.close();
      },
    };
  },
  routes: [
    pushTillV2,
    pushTillV1,
    listTills,
    listLegacyTillsRoute,
    fetchLegacyTillsRoute,
    getTill,
    getTillObject,
    replaceTillRoute,
    reprocessTillRoute,
    reprocessTills,
    getReprocessing,
  ],
  subscriptions: [markProcessed, markRemoved, ordersErased],
  periodic: [sweepUnfinished, removeOrphans, removeReplaced],
});
