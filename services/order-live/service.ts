import { defineService } from "@pragma/runtime/service/define-service";
import { createLocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { orderLiveConfig } from "./config.ts";
import type { OrderLiveContext } from "./context.ts";
import { createOrdersBodyReader } from "./orders-body.ts";
import { removeOldOrdersTask, trimOrderChangeLogTask } from "./periodic/remove-old-orders.ts";
import {
  getLiveOrderRoute,
  listLiveOrdersRoute,
  streamLiveOrdersRoute,
  upsertLiveOrdersRoute,
} from "./routes/orders.ts";
import { createOrderBroadcaster } from "./stream/order-broadcaster.ts";
import { eraseLiveOrderData } from "./subscriptions/orders-erased.ts";
import { removeOrdersOfReportedTill } from "./subscriptions/report-finalized.ts";

/** The order-live service, which stores open orders from points of sale, and publishes and streams their changes. */
export default defineService<typeof orderLiveConfig, OrderLiveContext>({
  name: "order-live",
  module: import.meta.url,
  config: orderLiveConfig,
  createResources({ db, log, metrics, notifier, registry }, config) {
    const broadcaster = createOrderBroadcaster({
      sql: db.sql,
      notifier,
      log,
      heartbeatMs: config.STREAM_HEARTBEAT_SECONDS * 1000,
      stallTimeoutMs: config.STREAM_STALL_TIMEOUT_SECONDS * 1000,
    });
    const ordersBodyReader = createOrdersBodyReader();
    const locations = createLocationLookup(registry, "order-live");
    metrics.observeGauge(
      "order_streams_open",
      "Open live order streams of this process",
      () => broadcaster.connectionCount,
    );
    return {
      services: {
        ...{ db, log, config, locations, ordersBodyReader, broadcaster },
        orderBytesQuota: { name: "live_order_bytes", maximum: config.MAX_LIVE_ORDER_BYTES_PER_DAY, unit: "bytes" },
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
  subscriptions: [removeOrdersOfReportedTill, eraseLiveOrderData],
  periodic: [trimOrderChangeLogTask, removeOldOrdersTask],
});
