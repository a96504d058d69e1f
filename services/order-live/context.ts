import { numberFromEnv } from "@pragma/runtime/config/runtime-config";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import { pageSizeConfig } from "@pragma/runtime/http/page-response";
import type { DailyQuota } from "@pragma/runtime/limits/daily-quota";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookup } from "@pragma/runtime/service-calls/location-lookup";
import { z } from "zod";
import type { createOrdersBodyReader } from "./orders-body.ts";
import type { OrderBroadcaster } from "./stream/order-broadcaster.ts";

/** What the order-live service is told besides what every service is. */
export const orderLiveConfig = z.object({
  ...pageSizeConfig,
  /** How long a stream can be taken up again where it broke off. */
  LIVE_LOG_KEPT_HOURS: numberFromEnv(1, 168).default(24),
  /** How long orders are kept that departed, and live ones that nobody changes, and which tills are final. */
  LIVE_ORDERS_KEPT_DAYS: numberFromEnv(2, 365).default(30),
  /** Bytes of one order as it is kept; an event that carries it must fit a message of the bus, which takes a mebibyte. */
  LIVE_ORDER_MAX_BYTES: numberFromEnv(10_000, 1000 * 1024).default(512 * 1024),
  /** Bytes of orders that a location may send in a day: a hundred times 200 orders, each changed five times, of 10 KB. */
  LIVE_ORDER_BYTES_PER_DAY: numberFromEnv(1).default(1_000_000_000),
  /** How often a stream that has nothing to say shows that it is alive. */
  STREAM_HEARTBEAT_SECONDS: numberFromEnv(1, 60).default(15),
  /** How long a reader may leave unread what it was sent before its stream is ended. */
  STREAM_STALL_SECONDS: numberFromEnv(1, 600).default(30),
});

export type OrderLiveConfig = z.output<typeof orderLiveConfig>;

export const daysAgo = (days: number) => new Date(Date.now() - days * 24 * 3_600_000);

/** What the order-live service stands on. */
export interface OrderLiveContext {
  db: Database;
  log: Logger;
  config: OrderLiveConfig;
  locations: LocationLookup;
  ordersBodyReader: ReturnType<typeof createOrdersBodyReader>;
  /** Feeds the streams that this process serves. */
  broadcaster: OrderBroadcaster;
  orderBytesQuota: DailyQuota;
}

export const defineLiveOrdersRoute = createRouteDefiner<OrderLiveContext>();
