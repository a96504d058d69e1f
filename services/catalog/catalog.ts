import type { DailyQuota } from "@pragma/runtime/daily-quota";
import { routesOf } from "@pragma/runtime/define-route";
import type { Locations } from "@pragma/runtime/locations";
import type { Database } from "@pragma/runtime/postgres";
import type { openCatalogReader } from "./read-catalog.ts";

/** What the catalog service stands on. */
export interface CatalogService {
  db: Database;
  locations: Locations;
  reader: ReturnType<typeof openCatalogReader>;
  quota: DailyQuota;
}

export const defineRoute = routesOf<CatalogService>();
