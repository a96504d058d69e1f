import type { DailyQuota } from "@pragma/runtime/daily-quota";
import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { openOrdersReader } from "./orders-body.ts";
import type { Hub } from "./stream/hub.ts";

/** How long what is past is kept. */
export interface LiveRetention {
  /** How long a stream can be taken up again where it broke off. */
  logHours: number;
  /** How long a departed order is remembered, and an order stays live that nobody changes. */
  orderDays: number;
}

/** What the order-live service stands on. */
export interface OrderLiveService {
  db: Database;
  log: Logger;
  locations: Locations;
  reader: ReturnType<typeof openOrdersReader>;
  /** Feeds the streams that this process serves. */
  hub: Hub;
  kept: LiveRetention;
  /** Of the texts in a page of a list. */
  pageMaxBytes: number;
  /** Of one order as it is kept. */
  orderMaxBytes: number;
  quota: DailyQuota;
}

export const defineRoute = routesOf<OrderLiveService>();
