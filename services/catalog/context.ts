import type { LocationDailyQuota } from "@pragma/runtime/admission/daily-quota";
import type { Database } from "@pragma/runtime/database/postgres";
import { createRouteDefiner } from "@pragma/runtime/http/define-route";
import type { LocationLookupClient } from "@pragma/runtime/service-calls/location-lookup";
import type { createCatalogParser } from "./parse-catalog-body.ts";

export interface CatalogServiceContext {
  db: Database;
  locations: LocationLookupClient;
  reader: ReturnType<typeof createCatalogParser>;
  /** Limits the total size, in bytes, of the changed catalogs that a location sends per day. */
  quota: LocationDailyQuota;
}

export const defineCatalogRoute = createRouteDefiner<CatalogServiceContext>();
