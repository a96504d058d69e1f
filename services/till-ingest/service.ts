import { operatorCommandAuditSource, publishAuditEvent } from "@pragma/runtime/messaging/audit-events";
import { createObjectStore } from "@pragma/runtime/object-store/object-store";
import { runWithObservabilityContext } from "@pragma/runtime/observability/request-context";
import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { Hono } from "hono";
import { z } from "zod";
import { createTillQuotas, tillIngestServiceConfigSchema } from "./config.ts";
import type { TillIngestServiceContext } from "./context.ts";
import { removeOrphanedTillObjectsTask, removeReplacedTillBodiesTask } from "./periodic/remove-unused-bodies.ts";
import { requeueOverdueTillsTask } from "./periodic/requeue-unfinished-tills.ts";
import { findTillLocationId, listTillsWithOverdueReport, sumOverTillPartitions } from "./queries/tills.ts";
import {
  otherTimeZoneTillsHandler,
  removeOldReprocessingsTask,
  requestTillReprocessing,
  startTillReprocessingLoop,
} from "./reprocess-tills.ts";
import { fetchLegacyTillsRoute, listLegacyTillsRoute } from "./routes/legacy-tills.ts";
import { getReprocessingRoute, reprocessTillRoute, reprocessTillsRoute } from "./routes/reprocess.ts";
import {
  getTillObjectRoute,
  getTillRoute,
  listTillsRoute,
  pushTillV1Route,
  pushTillV2Route,
  replaceTillRoute,
} from "./routes/tills.ts";
import { tillOrderRedactionSubscription } from "./subscriptions/orders-erased.ts";
import { reportEventSubscriptions } from "./subscriptions/report-events.ts";
import { createThreadedTillBodyParser } from "./validation/parse-till-body.ts";

const maxListedTills = 1_000;
const operatorAuthor = { keyId: "00000000-0000-0000-0000-000000000000", consumer: "operator" };

/** Returns the routes for operators: list the tills that wait for their report, and requeue or reprocess a till. */
export function createTillOperatorRoutes(
  services: Pick<TillIngestServiceContext, "db" | "locations" | "log" | "requeueAfterSeconds">,
): Hono {
  const { db, requeueAfterSeconds } = services;
  const app = new Hono();
  app.get("/unfinished", async (context) => {
    const seconds = z.coerce.number().int().min(0).catch(requeueAfterSeconds).parse(context.req.query("seconds"));
    return context.json(await listTillsWithOverdueReport(db.sql, { seconds, limit: maxListedTills }));
  });
  app.post("/unfinished/:tillId/retry", async (context) => {
    const tillId = context.req.param("tillId");
    if (!z.guid().safeParse(tillId).success) return context.json({ error: "not a till id" }, 400);
    const locationId = await findTillLocationId(db, tillId);
    const isRequeued =
      locationId !== undefined &&
      (await db.transaction(async (tx) => {
        const { count } = await tx`
          update tills set next_requeue_at = now()
          where location_id = ${locationId} and id = ${tillId} and next_requeue_at is not null`;
        const change = { action: "till.requeued" as const, locationId, target: { type: "till", id: tillId } };
        if (count > 0) await publishAuditEvent(tx, operatorCommandAuditSource, change);
        return count > 0;
      }));
    if (isRequeued) await requeueOverdueTillsTask.run(services);
    return context.json({ tillId, isRequeued });
  });
  app.post("/tills/:tillId/reprocess", async (context) => {
    const tillId = context.req.param("tillId");
    if (!z.guid().safeParse(tillId).success) return context.json({ error: "not a till id" }, 400);
    const locationId = await findTillLocationId(db, tillId);
    if (locationId === undefined)
      return context.json({ tillId, isReprocessed: false, reason: "The till does not exist." });
    const request = { id: tillId, locationId, author: operatorAuthor, audit: operatorCommandAuditSource, quotas: null };
    const { revision } = await runWithObservabilityContext({}, (requestContext) =>
      requestTillReprocessing(services, { ...request, context: requestContext }),
    );
    return context.json({ tillId, isReprocessed: true, revision });
  });
  return app;
}

const reprocessingNotificationTopic = "reprocessings";

/** Accepts tills, stores their exact bodies, and requeues each till until its report is final. */
export default defineService<typeof tillIngestServiceConfigSchema, TillIngestServiceContext>({
  name: "till-ingest",
  module: import.meta.url,
  config: tillIngestServiceConfigSchema,
  createResources({ db, log, metrics, notifier, registry, sendBusRequest }, config) {
    const objects = createObjectStore(config.OBJECT_STORE);
    const reader = createThreadedTillBodyParser({ threads: 2, heapMegabytes: config.TILL_READER_HEAP_MB });
    const locations = createUncachedLocationLookup(registry, "till-ingest");
    metrics.observeGauge("tills_without_result", "Tills requeued at least once that still have no result", () =>
      sumOverTillPartitions(db.sql, async (suffix) => {
        const [row] = await db.sql<[{ count: number }]>`
          select count(*) from ${db.sql(`tills${suffix}`)} where next_requeue_at is not null and requeue_count > 0`;
        return row.count;
      }),
    );
    const requeueAfterSeconds = config.TILL_REQUEUE_AFTER_SECONDS;
    const reprocessingLoop = startTillReprocessingLoop({ db, locations, log, requeueAfterSeconds });
    // All instances watch an unfinished reprocessing, and continue it if the one that works on it dies.
    notifier.subscribe((topic) => {
      if (topic === reprocessingNotificationTopic) reprocessingLoop.poll();
    });
    return {
      services: {
        ...{ db, log, config, objects, reader, locations, requeueAfterSeconds, sendBusRequest },
        pollReprocessings() {
          reprocessingLoop.poll();
          notifier.publish(reprocessingNotificationTopic, "");
        },
        quotasOf: createTillQuotas(config),
      },
      checks: { objects: () => objects.check() },
      opsRoutes: createTillOperatorRoutes({ db, locations, log, requeueAfterSeconds }),
      async close() {
        await reprocessingLoop.close();
        await reader.close();
        await objects.close();
      },
    };
  },
  routes: [
    pushTillV2Route,
    pushTillV1Route,
    listTillsRoute,
    listLegacyTillsRoute,
    fetchLegacyTillsRoute,
    getTillRoute,
    getTillObjectRoute,
    replaceTillRoute,
    reprocessTillRoute,
    reprocessTillsRoute,
    getReprocessingRoute,
  ],
  subscriptions: [...reportEventSubscriptions, tillOrderRedactionSubscription],
  requestHandlers: [otherTimeZoneTillsHandler],
  periodic: [
    requeueOverdueTillsTask,
    removeOrphanedTillObjectsTask,
    removeReplacedTillBodiesTask,
    removeOldReprocessingsTask,
  ],
});
