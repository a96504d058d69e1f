import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { openObjectStore } from "@pragma/runtime/object-store/object-store";
import { Hono } from "hono";
import { z } from "zod";
import { removeOrphans, removeReplaced } from "./periodic/remove-bodies.ts";
import { sweepUnfinished } from "./periodic/sweep-unfinished.ts";
import { countOverdue, hastenSweep, listUnfinished } from "./queries/tills.ts";
import { removeOldReprocessings, startReprocessing } from "./reprocess-tills.ts";
import { fetchLegacyTillsRoute, listLegacyTillsRoute, pushTillV1 } from "./routes/legacy-tills.ts";
import { getReprocessing, reprocessTillRoute, reprocessTills } from "./routes/reprocess.ts";
import { getTill, getTillObject, listTills, pushTillV2, replaceTillRoute } from "./routes/tills.ts";
import { markProcessed, markRemoved, ordersErased } from "./subscriptions.ts";
import { openTillReader } from "./till-body.ts";
import type { TillIngest } from "./till-ingest.ts";
import { tillIngestConfig } from "./till-ingest.ts";

/** How many tills are listed at most. */
const mostListed = 1_000;

/** What operators may ask of this service: which tills wait for their result, and to have one announced again. */
export function tillOperations(services: Pick<TillIngest, "db" | "log" | "sweepAfter">): Hono {
  const { db, sweepAfter } = services;
  const app = new Hono();
  app.get("/unfinished", async (context) => {
    const given = z.coerce.number().int().min(0).safeParse(context.req.query("seconds"));
    const seconds = given.success ? given.data : sweepAfter;
    return context.json(await listUnfinished(db.sql, { seconds, limit: mostListed }));
  });
  app.post("/unfinished/:tillId/retry", async (context) => {
    const tillId = context.req.param("tillId");
    if (!z.guid().safeParse(tillId).success) return context.json({ error: "no till id" }, 400);
    const isWaiting = await hastenSweep(db.sql, tillId);
    if (isWaiting) await sweepUnfinished.run(services);
    return context.json({ tillId, isAnnounced: isWaiting });
  });
  return app;
}

/** Accepts tills, keeps their exact bodies, and sees to it that each comes to its report. */
export default defineService<typeof tillIngestConfig, TillIngest>({
  name: "till-ingest",
  module: import.meta.url,
  config: tillIngestConfig,
  open({ db, log, metrics, registry }, config) {
    const objects = openObjectStore(config.OBJECT_STORE);
    const reader = openTillReader({ threads: 2, heapMegabytes: config.READING_HEAP_MB });
    const locations = locationsFrom(registry, "till-ingest");
    metrics.observe("tills_overdue", "Tills that were announced again and still have no result", () =>
      countOverdue(db.sql),
    );
    const sweepAfter = config.SWEEP_AFTER_SECONDS;
    const reprocessing = startReprocessing({ db, log, sweepAfter });
    return {
      services: {
        ...{ db, log, config, objects, reader, locations, sweepAfter },
        wakeReprocessing: reprocessing.wake,
        revisionQuota: { name: "till_revisions", maximum: config.TILL_REVISIONS_PER_DAY, unit: "revisions" },
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
  periodic: [sweepUnfinished, removeOrphans, removeReplaced, removeOldReprocessings],
});
