import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Logger } from "@pragma/runtime/logger";
import type { Database } from "@pragma/runtime/postgres";
import type { Hub } from "./stream/hub.ts";

/** What the order-live service stands on. */
export interface OrderLiveService {
  db: Database;
  log: Logger;
  locations: Locations;
  /** Feeds the streams that this process serves. */
  hub: Hub;
}

export const defineRoute = routesOf<OrderLiveService>();
