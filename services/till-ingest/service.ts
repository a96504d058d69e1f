import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { defineService } from "@pragma/runtime/service/define-service";
import { createLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { Hono } from "hono";
import { z } from "zod";
import type { TillIngestContext } from "./context.ts";
import { tillIngestConfig } from "./context.ts";
import { removeOrphanedObjects, removeReplacedBodies } from "./periodic/remove-bodies.ts";
import { requeueUnfinishedTills } from "./periodic/requeue-unfinished-tills.ts";
import { countOverdueTills, listUnfinishedTills, requeueTillNow } from "./queries/tills.ts";
import { removeOldReprocessings, startReprocessingLoop } from "./reprocess-tills.ts";
import { fetchLegacyTillsRoute, listLegacyTillsRoute, pushTillV1 } from "./routes/legacy-tills.ts";
import { getReprocessing, reprocessTillRoute, reprocessTillsRoute } from "./routes/reprocess.ts";
import { getTill, getTillObject, listTills, pushTillV2, replaceTillRoute } from "./routes/tills.ts";
import { eraseOrdersInTill, markTillProcessed, markTillReportRemoved } from "./subscriptions/report-events.ts";
import { createTillBodyReader } from "./validation/till-body-reader.ts";

/** How many tills are listed at most. */
const maxListedTills = 1_000;

/** What operators may ask of this service: which tills wait for their result, and to have one announced again. */
export function createTillOperatorRoutes(services: Pick<TillIngestContext, "db" | "log" | "sweepAfter">): Hono {
  const { db, sweepAfter } = services;
  const app = new Hono();
  app.get("/unfinished", async (context) => {
    const parsedSeconds = z.coerce.number().int().min(0).safeParse(context.req.query("seconds"));
    const seconds = parsedSeconds.success ? parsedSeconds.data : sweepAfter;
    return context.json(await listUnfinishedTills(db.sql, { seconds, limit: maxListedTills }));
  });
  app.post("/unfinished/:tillId/retry", async (context) => {
    const tillId = context.req.param("tillId");
    if (!z.guid().safeParse(tillId).success) return context.json({ error: "no till id" }, 400);
    const isWaiting = await requeueTillNow(db.sql, tillId);
    if (isWaiting) await requeueUnfinishedTills.run(services);
    return context.json({ tillId, isAnnounced: isWaiting });
  });
  return app;
}

/** Accepts tills, keeps their exact bodies, and sees to it that each comes to its report. */
export default defineService<typeof tillIngestConfig, TillIngestContext>({
  name: "till-ingest",
  module: import.meta.url,
  config: tillIngestConfig,
  createResources({ db, log, metrics, registry }, config) {
    const objects = createObjectStore(config.OBJECT_STORE);
    const reader = createTillBodyReader({ threads: 2, heapMegabytes: config.READING_HEAP_MB });
    const locations = createLocationLookup(registry, "till-ingest");
    metrics.observeGauge("tills_overdue", "Tills that were announced again and still have no result", () =>
      countOverdueTills(db.sql),
    );
    const sweepAfter = config.SWEEP_AFTER_SECONDS;
    const reprocessingLoop = startReprocessingLoop({ db, log, sweepAfter });
    return {
      services: {
        ...{ db, log, config, objects, reader, locations, sweepAfter },
        wakeReprocessing: reprocessingLoop.poll,
        revisionQuota: { name: "till_revisions", maximum: config.TILL_REVISIONS_PER_DAY, unit: "revisions" },
      },
      checks: { objects: () => objects.check() },
      opsRoutes: createTillOperatorRoutes({ db, log, sweepAfter }),
      async close() {
        await reprocessingLoop.close();
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
    reprocessTillsRoute,
    getReprocessing,
  ],
  subscriptions: [markTillProcessed, markTillReportRemoved, eraseOrdersInTill],
  periodic: [requeueUnfinishedTills, removeOrphanedObjects, removeReplacedBodies, removeOldReprocessings],
});
