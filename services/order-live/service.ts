import { defineService } from "@pragma/runtime/service/define-service";
import { createUncachedLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { createOrderQuotas, orderLiveServiceConfigSchema } from "./config.ts";
import type { OrderLiveServiceContext } from "./context.ts";
import { createLiveOrdersParser } from "./orders-body.ts";
import { removeOldLiveOrdersTask, trimOrderChangeLogTask } from "./periodic/remove-old-orders.ts";
import {
  getLiveOrderRoute,
  listLiveOrdersRoute,
  streamLiveOrdersRoute,
  upsertLiveOrdersRoute,
} from "./routes/orders.ts";
import { createLiveOrderBroadcaster } from "./stream/live-order-broadcaster.ts";
import { liveOrderRedactionSubscription } from "./subscriptions/orders-erased.ts";
import { removeReportedSubscription } from "./subscriptions/report-finalized.ts";

/** The order-live service, which stores open orders from points of sale, and publishes and streams their changes. */
export default defineService<typeof orderLiveServiceConfigSchema, OrderLiveServiceContext>({
  name: "order-live",
  module: import.meta.url,
  config: orderLiveServiceConfigSchema,
  createResources({ db, log, metrics, notifier, registry }, config) {
    const broadcaster = createLiveOrderBroadcaster({
      sql: db.sql,
      notifier,
      log,
      heartbeatMs: config.STREAM_HEARTBEAT_SECONDS * 1000,
      stallTimeoutMs: config.STREAM_STALL_TIMEOUT_SECONDS * 1000,
    });
    const ordersBodyReader = createLiveOrdersParser();
    const locations = createUncachedLocationLookup(registry, "order-live");
    metrics.observeGauge(
      "order_streams_open",
      "Open live order streams of this process",
      () => broadcaster.connectionCount,
    );
    return {
      services: {
        ...{ db, log, config, locations, ordersBodyReader, broadcaster },
        quotasOf: createOrderQuotas(config),
      },
      beforeStop: () => broadcaster.close(),
      async close() {
        broadcaster.close();
        await ordersBodyReader.close();
      },
    };
  },
  routes: [
    upsertLiveOrdersRoute,
    listLiveOrdersRoute,
    // Must come before the route with `{id}`, which also matches the path of this route.
    streamLiveOrdersRoute,
    getLiveOrderRoute,
  ],
  subscriptions: [removeReportedSubscription, liveOrderRedactionSubscription],
  periodic: [trimOrderChangeLogTask, removeOldLiveOrdersTask],
});
