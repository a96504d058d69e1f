import type { LocationDailyQuota } from "@pragma/runtime/admission/daily-quota";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { OrderLiveServiceConfig } from "./config.ts";
import type { ThreadedLiveOrdersBodyParser } from "./orders-body.ts";
import type { LiveOrderBroadcaster } from "./stream/live-order-broadcaster.ts";

export interface OrderLiveServiceContext {
  db: Database;
  log: Logger;
  config: OrderLiveServiceConfig;
  locations: LocationLookupClient;
  ordersBodyReader: ThreadedLiveOrdersBodyParser;
  broadcaster: LiveOrderBroadcaster;
  orderBytesQuota: LocationDailyQuota;
  /** Limits the share of the stream of order events that is filled by one location. */
  orderEventBytesQuota: LocationDailyQuota;
}

export const defineOrderLiveRoute = createRouteDefiner<OrderLiveServiceContext>();
