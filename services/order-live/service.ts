import { defineService } from "@pragma/runtime/define-service";
import { locationsFrom } from "@pragma/runtime/locations";
import { reportFinalized } from "./finish-till.ts";
import type { OrderLiveService } from "./order-live.ts";
import { orderLiveConfig } from "./order-live.ts";
import { openOrdersReader } from "./orders-body.ts";
import { forgetOrders, shortenLog } from "./periodic/forget-past.ts";
import { getOrderRoute, listOrdersRoute, streamOrdersRoute, upsertOrdersRoute } from "./routes/orders.ts";
import { createHub } from "./stream/hub.ts";
import { ordersErased } from "./subscriptions/orders-erased.ts";

/** Keeps the open orders as their points of sale send them, tells of what becomes of them, and streams every change. */
export default defineService<typeof orderLiveConfig, OrderLiveService>({
  name: "order-live",
  module: import.meta.url,
  config: orderLiveConfig,
  open({ db, log, metrics, signals, registry }, config) {
    const hub = createHub({
      sql: db.sql,
      signals,
      log,
      heartbeat: config.STREAM_HEARTBEAT_SECONDS * 1000,
      stallTime: config.STREAM_STALL_SECONDS * 1000,
    });
    const reader = openOrdersReader();
    const locations = locationsFrom(registry, "order-live");
    metrics.observe("order_streams_open", "Streams of live orders that this process serves", () => hub.size);
    return {
      services: {
        ...{ db, log, config, locations, reader, hub },
        quota: { name: "live_order_bytes", maximum: config.LIVE_ORDER_BYTES_PER_DAY, unit: "bytes" },
      },
      beforeStop: () => hub.close(),
      async close() {
        hub.close();
        await reader.close();
      },
    };
  },
  routes: [
    upsertOrdersRoute,
    listOrdersRoute,
    // Before {id}, which it would be taken for.
    streamOrdersRoute,
    getOrderRoute,
  ],
  subscriptions: [reportFinalized, ordersErased],
  periodic: [shortenLog, forgetOrders],
});
