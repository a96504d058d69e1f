import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { Logger } from "@pragma/runtime/observability/logger";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { createOrderQuotas, OrderLiveServiceConfig } from "./config.ts";
import type { ThreadedLiveOrdersBodyParser } from "./orders-body.ts";
import type { LiveOrderBroadcaster } from "./stream/live-order-broadcaster.ts";

export interface OrderLiveServiceContext {
  db: Database;
  log: Logger;
  config: OrderLiveServiceConfig;
  locations: LocationLookupClient;
  ordersBodyReader: ThreadedLiveOrdersBodyParser;
  broadcaster: LiveOrderBroadcaster;
  quotasOf: ReturnType<typeof createOrderQuotas>;
}

export const defineOrderLiveRoute = createRouteDefiner<OrderLiveServiceContext>();
